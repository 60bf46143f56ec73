// TREE inside programs (filter/tree.h has the idea): an access that its thread made before, at the same place, of the same bytes, with the
// same locks and with no message sent or received since, adds nothing for detectors by weak happens-before and locksets.
//
// The rule is about one thread, so each has a table of its own: no lock, and bounded. A set of two places keeps the latest; an entry that was
// overwritten costs time, never a race. What tells contexts apart here is finer than in the paper: every message is another context, and an
// access is known by its whole stack. Memory that begins or ends a life is told by a counter of its page.
//
// `threads=2`, the paper's rule, which loses races, drops also what two other threads have done in an equal context. Then a context is
// a hash of the messages, which threads can have in common: what a thread sends is a message of its own, what it receives is the
// latest that was sent through the object. Who has seen what is in a table of single words that all threads share, without a lock.
//
// Looking up must pay for itself: when a round of look-ups drops little, the filter rests for several rounds and passes everything.
#pragma once
#include "filter/tree_rules.h"
#include "runtime/thread.h"

namespace pf::rt::tree {

struct Known {
  uintptr_t address;
  depot::Id access;  // where, what, and the locks held
  uint32_t life;
  uint64_t history;
  friend bool operator==(const Known&, const Known&) = default;
};
inline constexpr uint32_t kMaxSets = 4096;

struct Table {
  uint64_t history;  // of the thread's messages: how many, or a hash of them
  uint64_t sent;
  uint32_t thread;
  uint32_t sets;  // of two, the latest first; a power of two
  uint32_t looked, hits, rest;
  uint64_t rules[tree_rules::kCount];
  Known (*at())[2] { return reinterpret_cast<Known(*)[2]>(this + 1); }

  std::size_t bytes() const { return sizeof *this + sets * sizeof(Known[2]); }
  uint64_t dropped() const { return rules[tree_rules::SameThread] + rules[tree_rules::TwoThreads]; }
};

inline constexpr unsigned kPages = 1U << 16;  // many: the stack of a new thread has 2048
extern uint32_t g_lives[kPages];              // by hash of the page
inline uint32_t& life_of(uintptr_t address) { return g_lives[(address >> 12 ^ address >> 28) & (kPages - 1)]; }

// A table for a thread: the one that another left, or null. Null if the chain has no such filter.
Table* table_for(uint32_t thread, Table* left);

uint64_t table_bytes();  // of all of them, shared or not

// The memory begins or ends a life.
void new_life(uintptr_t address, uintptr_t size);

// --- messages; `message` is of an object that orders: the latest sent through it, or 0 ---

enum class Message { None, Sent, Received };
void note(Table& table, Message what, uint64_t& message);
// One that nobody receives: of forks, joins, fences.
void note_own(Table& table);
// With `exact`.
void note_release(Table& table);

// --- accesses ---

inline constexpr uint32_t kRound = 1024, kRest = 8 * kRound, kWorthwhile = kRound / 4;
[[gnu::noinline, gnu::cold]] void end_round(Table& table);

// Whether two threads have seen it; if not, this one has from here on.
bool seen_by_two(uint32_t thread, uint64_t hash);

inline TreeRule judge(Table& table, uintptr_t address, depot::Id access, bool two_threads) {
  const Known now{address, access, __atomic_load_n(&life_of(address), __ATOMIC_ACQUIRE), table.history};
  const uint64_t h = (address ^ uint64_t{access} << 32 ^ access) * 0x9E3779B97F4A7C15U;
  Known(&set)[2] = table.at()[h >> 40 & (table.sets - 1)];
  if (set[0] == now) return tree_rules::SameThread;
  const bool known = set[1] == now;
  set[1] = set[0];
  set[0] = now;
  if (known) return tree_rules::SameThread;
  if (!two_threads) return tree_rules::Fresh;
  return seen_by_two(table.thread, h ^ (now.history + now.life) * 0xD6E8FEB86659FD93U) ? tree_rules::TwoThreads
                                                                                       : tree_rules::Fresh;
}

// Whether the access adds nothing; if not, it is known from here on.
inline bool is_redundant(Table& table, uintptr_t address, uintptr_t size, depot::Id access, bool two_threads) {
  if (table.rest != 0) {
    --table.rest;
    ++table.rules[tree_rules::Resting];
    return false;
  }
  const TreeRule rule = size > 8 ? tree_rules::TooLong : judge(table, address, access, two_threads);
  ++table.rules[rule];
  table.hits += drops(rule);
  if (++table.looked == kRound) end_round(table);
  return drops(rule);
}

}  // namespace pf::rt::tree
