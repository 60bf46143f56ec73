#include "runtime/globals.h"

#include <elf.h>

#include "core/hash.h"
#include "runtime/instrumented.h"
#include "runtime/memory.h"
#include "runtime/spin.h"

namespace pf::rt::globals {
namespace {

struct Symbol {
  uint64_t start, size;  // the start as in the file
};
struct Table {
  uintptr_t module;  // where it begins; 0: vacant
  Symbol* symbols;   // by start
  uint64_t count;
  bool is_whole;  // the file was not stripped
};
constexpr unsigned kTables = 256;
constinit Table g_tables[kTables] = {};
constinit SpinLock g_lock;  // for adding one

uint64_t name_at(const Module& m, uintptr_t address) {
  const char* file = m.path;
  for (const char* p = m.path; *p != '\0'; ++p) {
    if (*p == '/') file = p + 1;
  }
  return hash_with(hash_bytes(file), address - m.bias);
}

// A heap of the later ones on top, taken apart from the end.
void sift(Symbol* s, uint64_t at, uint64_t count) {
  for (uint64_t child = 0; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && s[child].start < s[child + 1].start) ++child;
    if (s[at].start >= s[child].start) return;
    const Symbol up = s[child];
    s[child] = s[at];
    s[at] = up;
  }
}
void sort(Symbol* s, uint64_t count) {
  for (uint64_t i = count / 2; i-- > 0;) sift(s, i, count);
  for (uint64_t end = count; end-- > 1;) {
    const Symbol last = s[0];
    s[0] = s[end];
    s[end] = last;
    sift(s, 0, end);
  }
}

// A file in memory; all that is read is checked to lie in it.
class File {
 public:
  explicit File(const char* path) {
    const long fd = sys::open(path, O_RDONLY | O_CLOEXEC);
    if (sys::failed(fd)) return;
    const long size = sys::call(SYS_lseek, fd, 0, 2);  // to its end
    const long at = size > 0 ? sys::call(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE, fd, 0) : -1;
    sys::close(static_cast<int>(fd));
    if (sys::failed(at)) return;
    data_ = reinterpret_cast<const char*>(at);
    size_ = static_cast<uint64_t>(size);
  }
  ~File() {
    if (data_ != nullptr) sys::unmap(const_cast<char*>(data_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // So many of them at the offset, or null.
  template <class T>
  const T* at(uint64_t offset, uint64_t count = 1) const {
    const bool inside = offset <= size_ && count <= (size_ - offset) / sizeof(T);
    return inside ? reinterpret_cast<const T*>(data_ + offset) : nullptr;
  }

 private:
  const char* data_ = nullptr;
  uint64_t size_ = 0;
};

bool is_variable(const Elf64_Sym& s) {
  return (s.st_info & 0xF) == STT_OBJECT && s.st_shndx != SHN_UNDEF && s.st_size != 0;
}

// The whole table of symbols, or what is left of it in a stripped file.
Table read_symbols(const Module& m) {
  Table table{m.begin, nullptr, 0, false};
  const File file(*m.path == '\0' ? "/proc/self/exe" : m.path);
  const auto* header = file.at<Elf64_Ehdr>(0);
  const auto* sections = header == nullptr ? nullptr : file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return table;
  const Elf64_Shdr* best = nullptr;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const uint32_t type = sections[i].sh_type;
    if (type == SHT_SYMTAB || (type == SHT_DYNSYM && best == nullptr)) best = &sections[i];
  }
  const uint64_t count = best == nullptr ? 0 : best->sh_size / sizeof(Elf64_Sym);
  const auto* symbols = best == nullptr ? nullptr : file.at<Elf64_Sym>(best->sh_offset, count);
  if (symbols == nullptr || count == 0) return table;
  table.symbols = static_cast<Symbol*>(map_or_die(count * sizeof(Symbol), "names of variables"));
  for (uint64_t i = 0; i < count; ++i) {
    if (is_variable(symbols[i])) table.symbols[table.count++] = {symbols[i].st_value, symbols[i].st_size};
  }
  sort(table.symbols, table.count);
  table.is_whole = best->sh_type == SHT_SYMTAB;
  return table;
}

const Table* table_of(const Module& m) {
  for (Table& t : g_tables) {
    uintptr_t module = __atomic_load_n(&t.module, __ATOMIC_ACQUIRE);
    if (module == 0) {
      const Guard guard(g_lock);
      module = t.module;
      if (module == 0) {
        const Table fresh = read_symbols(m);
        t.symbols = fresh.symbols;
        t.count = fresh.count;
        t.is_whole = fresh.is_whole;
        __atomic_store_n(&t.module, module = m.begin, __ATOMIC_RELEASE);
      }
    }
    if (module == m.begin) return &t;
  }
  return nullptr;
}

// The last one that starts before `end`.
const Symbol* last_before(const Table& t, uint64_t end) {
  uint64_t from = 0, to = t.count;
  while (from < to) {
    const uint64_t middle = from + (to - from) / 2;
    (t.symbols[middle].start < end ? from : to) = t.symbols[middle].start < end ? middle + 1 : middle;
  }
  return from == 0 ? nullptr : &t.symbols[from - 1];
}

}  // namespace

uint64_t name_of(uintptr_t address) {
  Module m{};
  return find_module(address, m) ? name_at(m, address) : 0;
}

bool find(uintptr_t granule, Global& global) {
  Module m{};
  if (!find_module(granule, m)) return false;
  const Table* table = table_of(m);
  const Symbol* s = table == nullptr ? nullptr : last_before(*table, granule + 8 - m.bias);
  if (s != nullptr && granule - m.bias < s->start + s->size) {
    global = {name_at(m, s->start + m.bias), s->start + m.bias, s->size, true, false};
  } else {
    constexpr uintptr_t kPage = 4096;
    global = {name_at(m, granule & ~(kPage - 1)), granule & ~(kPage - 1), kPage, false,
              table != nullptr && table->is_whole};
  }
  return true;
}

}  // namespace pf::rt::globals
