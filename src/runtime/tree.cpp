#include "runtime/tree.h"

#include "runtime/options.h"

namespace pf::rt::tree {

constinit uint32_t g_lives[kPages] = {};

Table* new_table() {
  if (!g_options.tree) return nullptr;
  uint32_t entries = kMaxEntries;
  while (entries > 64 && entries * sizeof(Entry) > g_options.tree_memory) entries /= 2;
  auto* table = static_cast<Table*>(map_or_die(sizeof(Table) + entries * sizeof(Entry), "the tree filter"));
  table->entries = entries;
  table->history = 1;
  return table;
}

void new_life(uintptr_t address, uintptr_t size) {
  const uintptr_t first = address >> 12, last = (address + size - 1) >> 12;
  if (last - first >= kPages) {
    for (uint32_t& life : g_lives) __atomic_fetch_add(&life, 1, __ATOMIC_RELEASE);
    return;
  }
  for (uintptr_t page = first; page <= last; ++page) __atomic_fetch_add(&life_of(page << 12), 1, __ATOMIC_RELEASE);
}

}  // namespace pf::rt::tree
