// TREE inside programs (filter/tree.h has the idea): an access that its thread made before, at the same place, of the same bytes, with the
// same locks and with no message sent or received since, adds nothing for detectors by weak happens-before and locksets.
//
// The rule is about one thread, so each has a table of its own: no lock, and bounded, since an entry that was overwritten costs
// time, never a race. What tells contexts apart here is finer than in the paper: every message is another context, and an
// access is known by its whole stack. Memory that begins or ends a life is told by a counter of its page.
#pragma once
#include "runtime/thread.h"

namespace pf::rt::tree {

struct Entry {
  uintptr_t address;
  depot::Id access;  // where, what, and the locks held
  uint32_t life;
  uint64_t history;
};
inline constexpr uint32_t kMaxEntries = 8192;

struct Table {
  uint64_t history;  // counts the thread's messages
  uint64_t seen, dropped;
  uint32_t entries;  // a power of two
  Entry* at() { return reinterpret_cast<Entry*>(this + 1); }
};

inline constexpr unsigned kPages = 4096;
extern uint32_t g_lives[kPages];  // by hash of the page
inline uint32_t& life_of(uintptr_t address) { return g_lives[(address >> 12 ^ address >> 24) & (kPages - 1)]; }

// Null if the chain has no such filter.
Table* new_table();

// For another thread: nothing is known in a history that has not been.
inline Table* forget(Table& table) {
  ++table.history;
  table.seen = table.dropped = 0;
  return &table;
}

// The memory begins or ends a life.
void new_life(uintptr_t address, uintptr_t size);

// Whether the access adds nothing; if not, it is known from here on.
inline bool is_redundant(Table& table, uintptr_t address, depot::Id access) {
  ++table.seen;
  const uint32_t life = __atomic_load_n(&life_of(address), __ATOMIC_ACQUIRE);
  const uint64_t h = (address ^ uint64_t{access} << 32 ^ access) * 0x9E3779B97F4A7C15U;
  Entry& e = table.at()[h >> 40 & (table.entries - 1)];
  if (e.address == address && e.access == access && e.life == life && e.history == table.history) {
    ++table.dropped;
    return true;
  }
  e = {address, access, life, table.history};
  return false;
}

}  // namespace pf::rt::tree
