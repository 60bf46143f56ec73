// The loaded modules as the linker sees them: their symbols, and the table entries through which they call each other.
#pragma once
#include <link.h>

#include "runtime/chunks.h"
#include "runtime/dynamic.h"

namespace pf::rt {

struct LinkedModule {
  const char* path = "";  // empty: the program
  uintptr_t loaded_at = 0, begin = ~uintptr_t{0}, end = 0;
  uintptr_t data_begin = ~uintptr_t{0}, data_end = 0;  // what is writable, or was
  uintptr_t read_only_begin = 0, read_only_end = 0;    // made so by the loader once it had bound the calls
  uintptr_t text_begin = ~uintptr_t{0}, text_end = 0;
  const Elf64_Dyn* dynamic = nullptr;
  Tables tables;

  bool has(uintptr_t address) const { return address >= begin && address < end; }
};

LinkedModule linked_module(const dl_phdr_info& info);

// f(module) for each one that is loaded, in the order in which they are searched for symbols.
template <class F>
void for_each_module(F f) {
  const auto visit = [](dl_phdr_info* info, std::size_t, void* argument) {
    const LinkedModule m = linked_module(*info);
    if (m.tables.symbols != nullptr) (*static_cast<F*>(argument))(m);
    return 0;
  };
  dl_iterate_phdr(visit, static_cast<void*>(&f));
}

// f(name, address) for each function that others can be bound to, of its default version.
template <class F>
void for_each_definition(const LinkedModule& m, F f) {
  constexpr uint16_t kHidden = 0x8000;
  const Tables& t = m.tables;
  for (uint32_t i = 1; i < symbol_count(t); ++i) {
    const Elf64_Sym& s = t.symbols[i];
    if (s.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s.st_info) != STT_FUNC || ELF64_ST_BIND(s.st_info) == STB_LOCAL)
      continue;
    if (t.versions == nullptr || (t.versions[i] & kHidden) == 0) f(t.names + s.st_name, m.loaded_at + s.st_value);
  }
}

// f(slot, symbol) for each entry that holds the address of something that has a name.
template <class F>
void for_each_slot(const LinkedModule& m, F f) {
  m.tables.any_relocation([&](const Elf64_Rela& r, const Elf64_Sym& symbol) {
    const auto type = ELF64_R_TYPE(r.r_info);
    if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
      f(reinterpret_cast<uintptr_t*>(m.loaded_at + r.r_offset), symbol);
    return false;
  });
}

// What the loader made read-only of a module can be written while this lives.
class SlotWriter {
 public:
  explicit SlotWriter(const LinkedModule& m) : module_(m) {}
  ~SlotWriter();
  SlotWriter(const SlotWriter&) = delete;
  SlotWriter& operator=(const SlotWriter&) = delete;

  void write(uintptr_t* slot, uintptr_t value) const;

 private:
  bool protect(int protection) const;
  const LinkedModule& module_;
  mutable bool is_open_ = false;
};

}  // namespace pf::rt
