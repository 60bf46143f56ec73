// The environment of rules inside the target: one per thread, so that rules take no lock for memory.
#pragma once
#include <utility>

#include "core/hybrid.h"
#include "runtime/groups.h"
#include "runtime/locksets.h"
#include "runtime/options.h"
#include "runtime/read_sets.h"
#include "runtime/slots.h"
#include "runtime/thread.h"

namespace pf::rt {

// An access to a granule as far as a rule can see it, and the report: where it is in the program, what it does to which bytes,
// and what its thread knows.
struct Deed {
  static constexpr unsigned kKnowledgeBits = 24;
  uintptr_t pc = 0;
  uint64_t context = 0;  // stack, held locks
  uint64_t what = 0;     // knowledge, operation and size, bytes of the granule

  Deed to(uint8_t bytes) const { return {pc, context, what | bytes}; }
  friend bool operator==(const Deed&, const Deed&) = default;
};

struct Outcome {
  uint64_t old[2], fresh[2];
  Deed deed;
};

struct OnlineEnv {
  using Epoch = OnlineEpoch;
  static constexpr bool kConcurrent = true;
  using ReadMap = ReadSet<OnlineEnv>;

  // An access is its number in the depot: stack, operation, size and held locks.
  struct Access {
    depot::Id id;
    friend bool operator==(Access, Access) = default;
  };
  struct Found {
    Mark<OnlineEnv> prior;
    Verdict verdict;
    uintptr_t granule;
    uint8_t bytes;
    Epoch
        hidden_at;  // of a potential race that nothing but the order of locks hid: the prior access in full happens-before; else never
  };

  void* allocate(std::size_t bytes) const { return arena->allocate(bytes); }
  void deallocate(void* p, std::size_t bytes) const { arena->deallocate(p, bytes); }
  static Slot fresh_slot(ThreadId t) { return slots::fresh(t); }
  static Slot next_slot(Slot used_up, ThreadId t) { return slots::next(used_up, t); }
  static ClockEntry entry(Slot s) { return slots::entry(s); }
  // By value: a variable whose address is taken cannot stay in registers.
  [[gnu::noinline, gnu::cold]] void race(Mark<OnlineEnv> prior, Verdict verdict = Verdict::Real) {
    note({prior, verdict, at & ~uintptr_t{7}, part, {}});
  }
  // The same, of a pair that only locks order (hybrid.h).
  [[gnu::noinline, gnu::cold]] void race(Mark<OnlineEnv> prior, Verdict verdict, Epoch full) {
    note({prior, verdict, at & ~uintptr_t{7}, part, full});
  }
  void note(const Found& f) {
    if (found_count < kFewFound) {
      found[found_count++] = f;
    } else if (!is_noted(f)) {
      more_found.push(f, *this);
    }
  }
  // f(found) for each race of the access.
  template <class F>
  void take_found(F&& f) {
    const unsigned count = std::exchange(found_count, 0U);
    for (unsigned i = 0; i < count; ++i) f(Found(found[i]));
    for (uint32_t i = 0; i < more_found.size(); ++i) f(Found(more_found[i]));
    more_found.release(*this);
  }
  // The bytes of the granule whose variable a rule is about to look at.
  void look_at(uint64_t bytes) { part = static_cast<uint8_t>(bytes); }
  void count(unsigned) {}  // a counter costs as much as the rule
  void settle() { ++settled; }
  // No two are equal, nor like anything else that memory may hold by chance.
  uint64_t fresh_stamp() { return (uint64_t{owner} << 40 | ++stamps) * 0x9E3779B97F4A7C15U; }
  bool samples() const { return sampling; }
  void clock_operation(bool whole) { clock_operations.count(sampling, whole); }

  Arena* arena = nullptr;
  SetStep set_steps[sets::kSteps] = {};

  // What a rule made of a granule, to be made of the next one that is like it: rules are pure functions.
  static constexpr unsigned kOutcomes = 64;
  Outcome outcomes[kOutcomes] = {};
  uint64_t knowledge = 1;  // counts whenever the thread learns or ticks: then outcomes are others

  // A deed has the low bits of the count: before they come again, all outcomes are forgotten.
  void learn() {
    if ((++knowledge & ((uint64_t{1} << Deed::kKnowledgeBits) - 1)) == 0) [[unlikely]]
      for (Outcome& o : outcomes) o = {};
  }
  uint64_t period = 0;  // of the thread, and
  uint64_t joined = 0;  // the set of readers that the last rule led to, as the store has it
  uintptr_t at = 0;     // in the granule being looked at
  uint8_t part = 0;
  unsigned settled = 0;   // how many of its variables
  bool is_alone = false;  // nobody else changes that granule (owners.h)
  uint64_t stamps = 0;
  uint32_t owner = 0;     // the number of the thread
  bool sampling = false;  // the thread is in a sampling period
  ClockOperations clock_operations;

  // Of these, one access over much memory may find as many as there are bytes; past a few, only those with another access.
  static constexpr unsigned kFewFound = 32;
  unsigned found_count = 0;
  Found found[kFewFound];
  Array<Found, OnlineEnv> more_found;

  // --- for the hybrids (hybrid.h) ---

  static bool same_place(Access a, Access b) { return a.id == b.id || rt::same_place(a.id, b.id); }
  LocksetId held() const { return locks; }
  static uint32_t locks_for(LocksetId set, bool writes) { return locksets::g_table.count_for(set, writes); }
  static bool share_lock(LocksetId a, bool a_writes, LocksetId b, bool b_writes) {
    return locksets::g_table.share_lock(a, a_writes, b, b_writes);
  }
  static bool is_subset(LocksetId a, LocksetId b) { return locksets::g_table.is_subset(a, b); }
  LocksetId protecting(LocksetId set, bool writes) { return common(set, set, writes); }
  LocksetId common(LocksetId a, LocksetId b, bool writes) {
    if (a == kNoLocks || b == kNoLocks) return kNoLocks;
    return lockset_memo.common(a, b, writes, [&] { return locksets::common(a, b, writes); });
  }
  static constexpr const uint32_t& queue_length = g_options.queue_length;

  void hold(HeldLock l) {
    locks = lockset_memo.with(locks, l, [&] { return locksets::with(locks, l); });
  }
  void let_go(HeldLock l) {
    locks = lockset_memo.without(locks, l, [&] { return locksets::without(locks, l); });
  }

  LocksetId locks = kNoLocks;  // that the thread holds
  LocksetMemo<64> lockset_memo;

 private:
  bool is_noted(const Found& f) const {
    const auto same = [&](const Found& g) { return g.prior.access.id == f.prior.access.id && g.verdict == f.verdict; };
    for (const Found& g : found) {
      if (same(g)) return true;
    }
    for (uint32_t i = 0; i < more_found.size(); ++i) {
      if (same(more_found[i])) return true;
    }
    return false;
  }
};
static_assert(LocksetEnvironment<OnlineEnv>);

}  // namespace pf::rt
