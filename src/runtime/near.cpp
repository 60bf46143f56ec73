#include "runtime/near.h"

#include <cstring>

#include "runtime/linkage.h"
#include "runtime/options.h"

// Of the linker's making; null in a library that has no such code.
extern "C" [[gnu::visibility("hidden"), gnu::weak]] const char __start_pf_near[], __stop_pf_near[],
    __start_pf_near_data[], __stop_pf_near_data[];

namespace pf::rt::near {
namespace {

uintptr_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }
uintptr_t page_of(uintptr_t address) { return address & ~(kPage - 1); }
uintptr_t page_after(uintptr_t address) { return page_of(address + kPage - 1); }

constinit Entries g_entries = {};
// How far the copies are from the original, which is the first of them.
constexpr unsigned kMaxCopies = 8;
constinit uintptr_t g_distances[kMaxCopies] = {};
constinit unsigned g_copies = 1;

// --- a place ---

bool is_in_reach(uintptr_t from, uintptr_t to) {
  constexpr intptr_t kReach = (intptr_t{1} << 31) - (intptr_t{1} << 20);
  const auto distance = static_cast<intptr_t>(to - from);
  return distance < kReach && distance > -kReach;
}

bool protect(uintptr_t begin, uintptr_t end, int protection) {
  const uintptr_t first = page_of(begin);
  return !sys::failed(sys::call_on(SYS_mprotect, reinterpret_cast<void*>(first),
                                   static_cast<long>(page_after(end) - first), protection));
}

bool copy_to(uintptr_t distance) {
  const uintptr_t begin = page_of(number(__start_pf_near)), end = page_after(number(__stop_pf_near_data));
  const long at =
      sys::call(SYS_mmap, static_cast<long>(begin + distance), static_cast<long>(end - begin), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (sys::failed(at)) return false;
  const auto copy = [&](const char* from, const char* to) {
    std::memcpy(reinterpret_cast<void*>(number(from) + distance), from, static_cast<std::size_t>(to - from));
  };
  copy(__start_pf_near, __stop_pf_near);
  copy(__start_pf_near_data, __stop_pf_near_data);
  if (static_cast<uintptr_t>(at) == begin + distance &&
      protect(number(__start_pf_near) + distance, number(__stop_pf_near) + distance, PROT_READ | PROT_EXEC))
    return true;
  sys::unmap(reinterpret_cast<void*>(at), end - begin);
  return false;
}

// Of a copy in reach of the module; false if there can be none. Below the module is nothing that grows towards it.
bool find_copy(const LinkedModule& m, uintptr_t& distance) {
  const uintptr_t original = number(__start_pf_near);
  const auto serves = [&](uintptr_t d) {
    return is_in_reach(m.begin, original + d) && is_in_reach(m.end, original + d);
  };
  for (unsigned i = 0; i < g_copies; ++i) {
    distance = g_distances[i];
    if (serves(distance)) return true;
  }
  if (g_copies == kMaxCopies) return false;
  const uintptr_t size = page_after(number(__stop_pf_near_data)) - page_of(original);
  constexpr uintptr_t kStep = uintptr_t{1} << 20, kTries = 64;
  for (uintptr_t i = 1; i <= kTries && m.begin > size + i * kStep; ++i) {
    distance = page_of(m.begin) - size - i * kStep - page_of(original);
    if (!copy_to(distance)) continue;
    g_distances[g_copies++] = distance;
    return serves(distance);
  }
  return false;
}

// --- a module's jumps ---

const Entry* entry_named(const char* name) {
  for (std::size_t i = 0; i < g_entries.count; ++i) {
    if (std::strcmp(name, g_entries.first[i].name) == 0) return &g_entries.first[i];
  }
  return nullptr;
}

struct Slots {
  static constexpr unsigned kMax = 256;
  struct {
    uintptr_t slot;
    const Entry* entry;
  } at[kMax];
  unsigned count = 0;

  const Entry* find(uintptr_t slot) const {
    for (unsigned i = 0; i < count; ++i) {
      if (at[i].slot == slot) return at[i].entry;
    }
    return nullptr;
  }
};

Slots slots_of(const LinkedModule& m) {
  Slots slots;
  for_each_slot(m, [&](const uintptr_t* slot, const Elf64_Sym& symbol) {
    const char* name = m.tables.names + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || std::strncmp(name, "__tsan_", 7) != 0 || slots.count == Slots::kMax) return;
    if (const Entry* e = entry_named(name); e != nullptr) slots.at[slots.count++] = {number(slot), e};
  });
  return slots;
}

// jmp *slot(%rip), perhaps behind a mark for indirect jumps, perhaps with a prefix: makes it a jump to the copy. Any bytes
// that are such an instruction, and name such a slot, are one.
void direct(uint8_t* code, const Slots& slots, uintptr_t distance) {
  constexpr uint8_t kMark[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (std::memcmp(code, kMark, sizeof kMark) == 0) code += sizeof kMark;
  uint8_t* const start = code;
  if (*code == 0xF2) ++code;
  if (code[0] != 0xFF || code[1] != 0x25) return;
  int32_t offset = 0;
  std::memcpy(&offset, code + 2, sizeof offset);
  const Entry* e = slots.find(number(code) + 6 + static_cast<uintptr_t>(intptr_t{offset}));
  if (e == nullptr) return;
  const auto to = static_cast<uint32_t>(number(e->code) + distance - (number(start) + 5));
  const uint8_t jump[] = {0xE9, static_cast<uint8_t>(to), static_cast<uint8_t>(to >> 8), static_cast<uint8_t>(to >> 16),
                          static_cast<uint8_t>(to >> 24)};
  std::memcpy(start, jump, sizeof jump);
}

void direct_all(uintptr_t begin, uintptr_t end, const Slots& slots, uintptr_t distance) {
  constexpr uintptr_t kEntry = 8, kLongest = 11;
  if (!protect(begin, end, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  for (uintptr_t at = begin; at + kLongest <= end; at += kEntry)
    direct(reinterpret_cast<uint8_t*>(at), slots, distance);
  protect(begin, end, PROT_READ | PROT_EXEC);
}

// --- where a module has its jumps: its file says so ---

class File {
 public:
  explicit File(const char* path) : fd_(sys::open(path, O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (!sys::failed(fd_)) sys::close(static_cast<int>(fd_));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(void* to, std::size_t bytes, uint64_t at) const {
    return !sys::failed(fd_) && sys::call(SYS_pread64, fd_, static_cast<long>(number(to)), static_cast<long>(bytes),
                                          static_cast<long>(at)) == static_cast<long>(bytes);
  }

 private:
  long fd_;
};

bool is_of_jumps(const char* name) { return std::strncmp(name, ".plt", 4) == 0; }

// f(begin, end) for each section of jumps, as loaded.
template <class F>
void for_each_part(const LinkedModule& m, F f) {
  const File file(m.path[0] == '\0' ? "/proc/self/exe" : m.path);
  Elf64_Ehdr header;
  Elf64_Shdr names, section;
  if (!file.read(&header, sizeof header, 0) || header.e_shentsize != sizeof section ||
      !file.read(&names, sizeof names, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names))
    return;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    char name[8] = {};
    if (!file.read(&section, sizeof section, header.e_shoff + i * sizeof section) ||
        !file.read(name, sizeof name - 1, names.sh_offset + section.sh_name))
      continue;
    const uintptr_t begin = m.loaded_at + section.sh_addr, end = begin + section.sh_size;
    if ((section.sh_flags & SHF_EXECINSTR) != 0 && is_of_jumps(name) && begin >= m.text_begin && end <= m.text_end)
      f(begin, end);
  }
}

void install_in(const LinkedModule& m) {
  const Slots slots = slots_of(m);
  uintptr_t distance = 0;
  if (slots.count == 0 || !find_copy(m, distance)) return;
  for_each_part(m, [&](uintptr_t begin, uintptr_t end) { direct_all(begin, end, slots, distance); });
}

}  // namespace

void install(const Entries& entries) {
  g_entries = entries;
  if (g_options.near) for_each_module(&install_in);
}

const void* entry_point_at(uintptr_t address) {
  for (unsigned copy = 0; copy < g_copies; ++copy) {
    for (std::size_t i = 0; i < g_entries.count; ++i) {
      const Entry& e = g_entries.first[i];
      if (address == number(e.code) + g_distances[copy]) return e.function;
    }
  }
  return nullptr;
}

}  // namespace pf::rt::near
