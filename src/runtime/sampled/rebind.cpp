#include "runtime/sampled/rebind.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <cstring>

#include "runtime/chunks.h"
#include "runtime/dynamic.h"
#include "runtime/libc.h"

namespace pf::rt::rebind {
namespace {

// A function that we export, and whose place it takes.
struct Export {
  const char* name;
  uintptr_t ours, original;  // original 0: nobody has it
};
constexpr unsigned kExports = 512;
constinit Export g_exports[kExports] = {};
constinit unsigned g_export_count = 0;

// What was where we wrote.
struct Entry {
  uintptr_t* slot;
  uintptr_t before;
};
constexpr unsigned kEntries = 1U << 16;
constinit Entry* g_entries = nullptr;
constinit unsigned g_entry_count = 0;

struct Module {
  uintptr_t loaded_at = 0, begin = ~uintptr_t{0}, end = 0;
  uintptr_t read_only_begin = 0, read_only_end = 0;  // made so by the loader once it had bound the calls
  Tables tables;

  bool has(uintptr_t address) const { return address >= begin && address < end; }
  bool is_ours() const { return has(reinterpret_cast<uintptr_t>(&g_exports)); }
};

constexpr uintptr_t kPage = 4096;

Module module_of(const dl_phdr_info& info) {
  Module m;
  m.loaded_at = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const Elf64_Phdr& h = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + h.p_vaddr, end = begin + h.p_memsz;
    if (h.p_type == PT_DYNAMIC) m.tables = tables_of(reinterpret_cast<const Elf64_Dyn*>(begin));
    if (h.p_type == PT_LOAD) {
      m.begin = begin < m.begin ? begin : m.begin;
      m.end = end > m.end ? end : m.end;
    }
    if (h.p_type == PT_GNU_RELRO) {
      m.read_only_begin = begin & ~(kPage - 1);
      m.read_only_end = end & ~(kPage - 1);
    }
  }
  if (!m.tables.are_usable(info.dlpi_addr)) m.tables = {};
  return m;
}

// f(module) for each one that is loaded, in the order in which they are searched for symbols.
template <class F>
void for_each_module(F f) {
  const auto visit = [](dl_phdr_info* info, std::size_t, void* argument) {
    const Module m = module_of(*info);
    if (m.tables.symbols != nullptr) (*static_cast<F*>(argument))(m);
    return 0;
  };
  dl_iterate_phdr(visit, &f);
}

// f(name, address) for each function that others can be bound to, of its default version.
template <class F>
void for_each_definition(const Module& m, F f) {
  constexpr uint16_t kHidden = 0x8000;
  const Tables& t = m.tables;
  for (uint32_t i = 1; i < symbol_count(t); ++i) {
    const Elf64_Sym& s = t.symbols[i];
    if (s.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s.st_info) != STT_FUNC || ELF64_ST_BIND(s.st_info) == STB_LOCAL)
      continue;
    if (t.versions == nullptr || (t.versions[i] & kHidden) == 0) f(t.names + s.st_name, m.loaded_at + s.st_value);
  }
}

Export* find_export(const char* name) {
  for (unsigned i = 0; i < g_export_count; ++i) {
    if (std::strcmp(g_exports[i].name, name) == 0) return &g_exports[i];
  }
  return nullptr;
}

void* original(const char* name) {
  const Export* e = find_export(name);
  return e != nullptr ? reinterpret_cast<void*>(e->original) : dlsym(RTLD_DEFAULT, name);
}

Entry* find_entry(const uintptr_t* slot) {
  for (unsigned i = 0; i < g_entry_count; ++i) {
    if (g_entries[i].slot == slot) return &g_entries[i];
  }
  return nullptr;
}

void write(const Module& m, uintptr_t* slot, uintptr_t value) {
  const auto at = reinterpret_cast<uintptr_t>(slot);
  const bool read_only = at >= m.read_only_begin && at < m.read_only_end;
  auto* page = reinterpret_cast<void*>(at & ~(kPage - 1));
  if (read_only && sys::failed(sys::call_on(SYS_mprotect, page, kPage, PROT_READ | PROT_WRITE))) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) sys::call_on(SYS_mprotect, page, kPage, PROT_READ);
}

// f(slot, export) for each call of something that we export.
template <class F>
void for_each_call(const Module& m, F f) {
  if (m.is_ours()) return;
  m.tables.any_relocation([&](const Elf64_Rela& r, const Elf64_Sym& symbol) {
    const auto type = ELF64_R_TYPE(r.r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) return false;
    const Export* e = find_export(m.tables.names + symbol.st_name);
    if (e != nullptr && e->original != 0) f(reinterpret_cast<uintptr_t*>(m.loaded_at + r.r_offset), *e);
    return false;
  });
}

}  // namespace

void find() {
  if (g_export_count != 0) return;
  for_each_module([](const Module& m) {
    if (!m.is_ours()) return;
    for_each_definition(m, [](const char* name, uintptr_t address) {
      if (g_export_count < kExports) g_exports[g_export_count++] = {name, address, 0};
    });
  });
  for_each_module([](const Module& m) {
    if (m.is_ours()) return;
    for_each_definition(m, [](const char* name, uintptr_t address) {
      if (Export* e = find_export(name); e != nullptr && e->original == 0) e->original = address;
    });
  });
  libc::find_next_by(&original);
}

// Only what is bound as we think it is, or not yet: then it leads back into its own module.
void to_us() {
  if (g_entries == nullptr) g_entries = static_cast<Entry*>(map_or_die(kEntries * sizeof(Entry), "calls"));
  for_each_module([](const Module& m) {
    for_each_call(m, [&](uintptr_t* slot, const Export& e) {
      const uintptr_t before = __atomic_load_n(slot, __ATOMIC_RELAXED);
      if (before != e.original && !m.has(before)) return;
      Entry* entry = find_entry(slot);  // of a module that was here before
      if (entry == nullptr && g_entry_count == kEntries) return;
      if (entry == nullptr) entry = &g_entries[g_entry_count++];
      *entry = {slot, before};
      write(m, slot, e.ours);
    });
  });
}

// A module may be gone by now, so those that are there are asked again.
void back() {
  for_each_module([](const Module& m) {
    for_each_call(m, [&](uintptr_t* slot, const Export& e) {
      if (__atomic_load_n(slot, __ATOMIC_RELAXED) != e.ours) return;
      const Entry* entry = find_entry(slot);
      write(m, slot, entry != nullptr ? entry->before : e.original);
    });
  });
  g_entry_count = 0;
}

}  // namespace pf::rt::rebind
