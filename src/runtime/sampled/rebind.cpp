#include "runtime/sampled/rebind.h"

#include <dlfcn.h>

#include <cstring>

#include "runtime/libc.h"
#include "runtime/linkage.h"

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

bool is_ours(const LinkedModule& m) { return m.has(reinterpret_cast<uintptr_t>(&g_exports)); }

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

// f(slot, export) for each call of something that we export.
template <class F>
void for_each_call(const LinkedModule& m, F f) {
  if (is_ours(m)) return;
  for_each_slot(m, [&](uintptr_t* slot, const Elf64_Sym& symbol) {
    const Export* e = find_export(m.tables.names + symbol.st_name);
    if (e != nullptr && e->original != 0) f(slot, *e);
  });
}

}  // namespace

void find() {
  if (g_export_count != 0) return;
  for_each_module([](const LinkedModule& m) {
    if (!is_ours(m)) return;
    for_each_definition(m, [](const char* name, uintptr_t address) {
      if (g_export_count < kExports) g_exports[g_export_count++] = {name, address, 0};
    });
  });
  for_each_module([](const LinkedModule& m) {
    if (is_ours(m)) return;
    for_each_definition(m, [](const char* name, uintptr_t address) {
      if (Export* e = find_export(name); e != nullptr && e->original == 0) e->original = address;
    });
  });
  libc::find_next_by(&original);
}

// Only what is bound as we think it is, or not yet: then it leads back into its own module.
void to_us() {
  if (g_entries == nullptr) g_entries = static_cast<Entry*>(map_or_die(kEntries * sizeof(Entry), "calls"));
  for_each_module([](const LinkedModule& m) {
    const SlotWriter writer(m);
    for_each_call(m, [&](uintptr_t* slot, const Export& e) {
      const uintptr_t before = __atomic_load_n(slot, __ATOMIC_RELAXED);
      if (before != e.original && !m.has(before)) return;
      Entry* entry = find_entry(slot);  // of a module that was here before
      if (entry == nullptr && g_entry_count == kEntries) return;
      if (entry == nullptr) entry = &g_entries[g_entry_count++];
      *entry = {slot, before};
      writer.write(slot, e.ours);
    });
  });
}

// A module may be gone by now, so those that are there are asked again.
void back() {
  for_each_module([](const LinkedModule& m) {
    const SlotWriter writer(m);
    for_each_call(m, [&](uintptr_t* slot, const Export& e) {
      if (__atomic_load_n(slot, __ATOMIC_RELAXED) != e.ours) return;
      const Entry* entry = find_entry(slot);
      writer.write(slot, entry != nullptr ? entry->before : e.original);
    });
  });
  g_entry_count = 0;
}

}  // namespace pf::rt::rebind
