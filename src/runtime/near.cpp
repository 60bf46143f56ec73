#include "runtime/near.h"

#include <cstring>

#include "runtime/abi/abi.h"
#include "runtime/linkage.h"
#include "runtime/options.h"

// Of the linker's making; null in a library that has no such code.
extern "C" [[gnu::visibility("hidden"), gnu::weak]] const char __stop_pf_near[];
extern "C" [[gnu::visibility("hidden"), gnu::weak]] const pf::rt::near::Place __start_pf_near_values[],
    __stop_pf_near_values[];

namespace pf::rt::near {
namespace {

uintptr_t number(const void* p) { return reinterpret_cast<uintptr_t>(p); }
uintptr_t page_of(uintptr_t address) { return address & ~(kPage - 1); }
uintptr_t page_after(uintptr_t address) { return page_of(address + kPage - 1); }

constinit Code g_code = {};  // no entries: not installed

// Places for blocks: in modules that pf-cc linked, 0 where one is free, and those that we made for others.
constexpr unsigned kMaxPlaces = 1024, kMaxCopies = 8;
constinit uintptr_t g_places[kMaxPlaces] = {}, g_copies[kMaxCopies] = {};
constinit unsigned g_copy_count = 0;

// --- a block ---

bool protect(uintptr_t begin, uintptr_t end, int protection) {
  const uintptr_t first = page_of(begin);
  return !sys::failed(sys::call_on(SYS_mprotect, reinterpret_cast<void*>(first),
                                   static_cast<long>(page_after(end) - first), protection));
}

uintptr_t entry_of(uintptr_t block, unsigned entry) { return block + entry * kSlotBytes; }

// Of the code of an entry, as the library has it: up to the next one.
uintptr_t end_of(unsigned entry, const void* const* entries) {
  uintptr_t end = number(__stop_pf_near);
  for (unsigned i = 0; i < kEntries; ++i) {
    const uintptr_t other = number(entries[i]);
    if (other > number(entries[entry]) && other < end) end = other;
  }
  return end;
}

bool fit(const void* const* entries) {
  for (unsigned i = 0; i < kEntries; ++i) {
    if (end_of(i, entries) - number(entries[i]) > kSlotBytes) return false;
  }
  return true;
}

void copy_entry(uintptr_t to, unsigned entry) {
  const uintptr_t from = number(g_code.entries[entry]), end = end_of(entry, g_code.entries);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), end - from);
  for (const Place* p = __start_pf_near_values; p != __stop_pf_near_values; ++p) {
    const uintptr_t at = number(p) + static_cast<uintptr_t>(intptr_t{p->distance});
    if (at < from || at >= end) continue;
    std::memcpy(reinterpret_cast<void*>(to + (at - from)), &g_code.values[p->value & ~Place::kShort],
                (p->value & Place::kShort) != 0 ? 4 : 8);
  }
}

// Nobody runs code there yet. All at once, before anything is changed: where a policy forbids to write code, a block that was written might
// stay without its right to be executed.
bool fill(uintptr_t block) {
  if (!protect(block, block + kBlockBytes, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  for (unsigned i = 0; i < kEntries; ++i) copy_entry(entry_of(block, i), i);
  protect(block, block + kBlockBytes, PROT_READ | PROT_EXEC);
  return true;
}

// --- a place for one ---

bool is_in_reach(uintptr_t from, uintptr_t to) {
  constexpr intptr_t kReach = (intptr_t{1} << 31) - (intptr_t{1} << 20);
  const auto distance = static_cast<intptr_t>(to - from);
  return distance < kReach && distance > -kReach;
}

bool copy_to(uintptr_t place) {
  const long at = sys::call(SYS_mmap, static_cast<long>(place), static_cast<long>(kBlockBytes), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (sys::failed(at)) return false;
  if (static_cast<uintptr_t>(at) == place && fill(place)) return true;
  sys::unmap(reinterpret_cast<void*>(at), kBlockBytes);
  return false;
}

// A block in reach of the module; 0 if there can be none. Below the module is nothing that grows towards it.
uintptr_t find_copy(const LinkedModule& m) {
  const auto serves = [&](uintptr_t block) { return is_in_reach(m.begin, block) && is_in_reach(m.end, block); };
  for (unsigned i = 0; i < g_copy_count; ++i) {
    if (serves(g_copies[i])) return g_copies[i];
  }
  if (g_copy_count == kMaxCopies) return 0;
  constexpr uintptr_t kStep = uintptr_t{1} << 20, kTries = 64;
  for (uintptr_t i = 1; i <= kTries && m.begin > kBlockBytes + i * kStep; ++i) {
    const uintptr_t place = page_of(m.begin) - kBlockBytes - i * kStep;
    if (!copy_to(place)) continue;
    g_copies[g_copy_count++] = place;
    return serves(place) ? place : 0;
  }
  return 0;
}

// --- a module's jumps ---

unsigned entry_named(const char* name) {
  for (std::size_t i = 0; i < g_code.name_count; ++i) {
    if (std::strcmp(name, g_code.names[i].name) == 0) return g_code.names[i].entry;
  }
  return kEntries;
}

struct Slots {
  static constexpr unsigned kMax = 256;
  struct {
    uintptr_t slot;
    unsigned entry;
  } at[kMax];
  unsigned count = 0;

  unsigned find(uintptr_t slot) const {
    for (unsigned i = 0; i < count; ++i) {
      if (at[i].slot == slot) return at[i].entry;
    }
    return kEntries;
  }
};

Slots slots_of(const LinkedModule& m) {
  Slots slots;
  for_each_slot(m, [&](const uintptr_t* slot, const Elf64_Sym& symbol) {
    const char* name = m.tables.names + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || std::strncmp(name, "__tsan_", 7) != 0 || slots.count == Slots::kMax) return;
    if (const unsigned e = entry_named(name); e != kEntries) slots.at[slots.count++] = {number(slot), e};
  });
  return slots;
}

// jmp *slot(%rip), perhaps behind a mark for indirect jumps, perhaps with a prefix: makes it a jump to the block. Any bytes
// that are such an instruction, and name such a slot, are one.
void direct(uint8_t* code, const Slots& slots, uintptr_t block) {
  constexpr uint8_t kMark[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (std::memcmp(code, kMark, sizeof kMark) == 0) code += sizeof kMark;
  uint8_t* const start = code;
  if (*code == 0xF2) ++code;
  if (code[0] != 0xFF || code[1] != 0x25) return;
  int32_t offset = 0;
  std::memcpy(&offset, code + 2, sizeof offset);
  const unsigned entry = slots.find(number(code) + 6 + static_cast<uintptr_t>(intptr_t{offset}));
  if (entry == kEntries) return;
  const auto to = static_cast<uint32_t>(entry_of(block, entry) - (number(start) + 5));
  const uint8_t jump[] = {0xE9, static_cast<uint8_t>(to), static_cast<uint8_t>(to >> 8), static_cast<uint8_t>(to >> 16),
                          static_cast<uint8_t>(to >> 24)};
  std::memcpy(start, jump, sizeof jump);
}

void direct_all(uintptr_t begin, uintptr_t end, const Slots& slots, uintptr_t block) {
  constexpr uintptr_t kEntry = 8, kLongest = 11;
  if (!protect(begin, end, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  for (uintptr_t at = begin; at + kLongest <= end; at += kEntry) direct(reinterpret_cast<uint8_t*>(at), slots, block);
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
  const uintptr_t block = slots.count == 0 ? 0 : find_copy(m);
  if (block == 0) return;
  for_each_part(m, [&](uintptr_t begin, uintptr_t end) { direct_all(begin, end, slots, block); });
}

}  // namespace

void install(const Code& code) {
  if (!g_options.near || !fit(code.entries)) return;
  g_code = code;
  for (const uintptr_t place : g_places) {
    if (place != 0) fill(place);
  }
  for_each_module(&install_in);
}

unsigned entry_at(uintptr_t address) {
  const auto entry_in = [&](uintptr_t block) {
    const uintptr_t offset = address - block;
    const bool is_entry = block != 0 && offset < kEntries * kSlotBytes && offset % kSlotBytes == 0;
    return is_entry ? static_cast<unsigned>(offset / kSlotBytes) : kEntries;
  };
  unsigned entry = kEntries;
  for (unsigned i = 0; i < g_copy_count && entry == kEntries; ++i) entry = entry_in(g_copies[i]);
  for (unsigned i = 0; i < kMaxPlaces && entry == kEntries; ++i) {
    entry = entry_in(__atomic_load_n(&g_places[i], __ATOMIC_RELAXED));
  }
  return entry;
}

}  // namespace pf::rt::near

using namespace pf::rt::near;

// A module that pf-cc linked has come, or goes (abi/linked_calls.S).
PF_EXPORT void __photofinish_begin_block(void* block) {
  for (uintptr_t& place : g_places) {
    uintptr_t nothing = 0;
    if (!__atomic_compare_exchange_n(&place, &nothing, number(block), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    if (g_code.entries != nullptr) fill(number(block));
    return;
  }
}
PF_EXPORT void __photofinish_end_block(void* block) {
  for (uintptr_t& place : g_places) {
    uintptr_t here = number(block);
    __atomic_compare_exchange_n(&place, &here, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}
