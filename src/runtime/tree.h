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
// Looking up must pay for itself: when a round of look-ups drops little, the filter rests for several rounds and passes everything; for twice as
// many each time that it was in vain again, up to a bound.
#pragma once
#include "filter/tree_rules.h"
#include "runtime/options.h"
#include "runtime/thread.h"

namespace pf::rt::tree {

// An access in its context: where, what, and the locks held.
struct Known {
  uintptr_t address, pc;
  uint64_t calls_and_locks;
  uint32_t what, life;
  uint64_t history;
  friend bool operator==(const Known&, const Known&) = default;

  uint64_t hash() const {
    const uint64_t where = (pc ^ uint64_t{what} << 40 ^ calls_and_locks * 0xD6E8FEB86659FD93U) * 0xC2B2AE3D27D4EB4FU;
    return (address ^ where) * 0x9E3779B97F4A7C15U;
  }
};
inline constexpr uint32_t kMaxSets = 4096;

struct Table {
  uint64_t history;  // of the thread's messages: how many, or a hash of them
  uint64_t sent;
  uint32_t thread;
  uint32_t sets;  // of two, the latest first; a power of two
  uint32_t looked, hits, rest;
  uint32_t vain;  // rounds since the last that paid
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
void note_hashed(Table& table, Message what, uint64_t& message);
inline void note(Table& table, Message what, uint64_t& message) {
  if (what == Message::None) return;
  if (g_options.tree_two_threads) return note_hashed(table, what, message);
  ++table.history;
}
// One that nobody receives: of forks, joins, fences.
void note_own(Table& table);
// With `exact`.
void note_release(Table& table);

// --- accesses ---

inline constexpr uint32_t kRound = 1024, kRest = 8 * kRound, kMostDoublings = 5;
inline constexpr uint32_t kWorthwhile = kRound / 6;  // what is new is looked for twice
[[gnu::noinline, gnu::cold]] void end_round(Table& table);

// Whether two threads have seen it; if not, this one has from here on.
bool seen_by_two(uint32_t thread, uint64_t hash);

// The thread's stack and held locks must have their numbers.
inline Known known(const Thread& t, uintptr_t address, uintptr_t pc, uint32_t what) {
  const depot::Id calls = t.top == t.bottom ? 0 : t.top[-1].stack;
  const uint32_t life = __atomic_load_n(&life_of(address), __ATOMIC_ACQUIRE);
  return {address, pc, uint64_t{calls} << 32 | t.locks, what, life, t.tree->history};
}
inline Known (&set_of(Table& table, uint64_t hash))[2] { return table.at()[hash >> 40 & (table.sets - 1)]; }

inline void count_look(Table& table, bool hit) {
  table.hits += hit;
  if (++table.looked == kRound) end_round(table);
}

// Whether it was made before, asked early: no Scope is needed to look. Should the handler of a signal come in between and put something of its own
// in place, that is of a later history, and so is not what is looked for.
[[gnu::always_inline]] inline bool is_known(Table& table, const Known& now) {
  const Known(&set)[2] = set_of(table, now.hash());
  const auto is_now = [&](const Known& k) {
    const bool same = k.address == now.address && k.pc == now.pc && k.calls_and_locks == now.calls_and_locks &&
                      k.what == now.what && k.life == now.life;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return same && __atomic_load_n(&k.history, __ATOMIC_RELAXED) == now.history;
  };
  const bool hit = is_now(set[0]) || is_now(set[1]);
  table.rules[tree_rules::SameThread] += hit;
  count_look(table, hit);
  return hit;
}

inline TreeRule judge(Table& table, const Known& now, bool two_threads) {
  const uint64_t h = now.hash();
  Known(&set)[2] = set_of(table, h);
  if (set[0] == now) return tree_rules::SameThread;
  const bool known = set[1] == now;
  set[1] = set[0];
  set[0] = now;
  if (known) return tree_rules::SameThread;
  if (!two_threads) return tree_rules::Fresh;
  return seen_by_two(table.thread, h ^ (now.history + now.life) * 0xD6E8FEB86659FD93U) ? tree_rules::TwoThreads
                                                                                       : tree_rules::Fresh;
}

// Whether it rests; if so, the access counts as one that passed.
inline bool rests(Table& table) {
  if (table.rest == 0) return false;
  --table.rest;
  ++table.rules[tree_rules::Resting];
  return true;
}
// Whether the access adds nothing; if not, it is known from here on.
inline bool is_redundant(Table& table, const Known& now, uintptr_t size, bool two_threads) {
  const TreeRule rule = size > 8 ? tree_rules::TooLong : judge(table, now, two_threads);
  ++table.rules[rule];
  count_look(table, drops(rule));
  return drops(rule);
}

}  // namespace pf::rt::tree
