// SimpleLock: weak happens-before, and of the locks held only how many they were.
// Guarantee: with q=0, reports exactly the pairs of sites with accesses that conflict, are unordered by weak happens-before and
// of which one holds no lock (a read lock protects reads only). With a queue of length q, a subset of these.
// Source: SimpleLock (seed 001), algorithms 3-8 with the corrections of our notes: fork ticks the parent, the check is
// "unordered, and one of the two lock counts is zero", and a write with fewer locks removes the thread's own last read.
// A queue entry is the access with the fewest locks of its thread and clock period; q=0 keeps one per period and site.
// Cost: an access looks at q entries per thread that touched the variable.
#pragma once
#include "core/array.h"
#include "core/hybrid.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kSimpleLockRules[] = {"seen before", "no more locks", "new period", "read removed"};
inline constexpr OptionInfo kSimpleLockOptions[] = {
    {"q", "N", "1", "entries kept per thread and variable for reads and for writes; 0: all, one per period and site"},
};
inline constexpr EngineInfo kSimpleLockInfo = {
    .name = "simplelock",
    .kind = StageKind::Detector,
    .summary = "weak happens-before and lock counts: potential races at a cost close to FastTrack's",
    .guarantee =
        "with q=0 exactly the site pairs unordered by weak happens-before of which one holds no lock; else a subset",
    .source = "SimpleLock, algorithms 3-8",
    .options = kSimpleLockOptions,
    .rules = kSimpleLockRules,
};

template <class Env>
struct SimpleLockEntry {
  typename Hybrid<Env>::Sighting seen;
  uint32_t locks;  // how many protected it
};

template <class Env>  // a queue has the entries of all threads, oldest first
struct SimpleLock : ListHybrid<SimpleLock<Env>, Env, Array<SimpleLockEntry<Env>, Env>> {
  static_assert(LocksetEnvironment<Env>);
  using Base = Hybrid<Env>;
  using typename Base::Access;
  using typename Base::Thread;
  using Entry = SimpleLockEntry<Env>;
  using Queue = Array<Entry, Env>;
  using typename ListHybrid<SimpleLock, Env, Queue>::Var;
  static constexpr const EngineInfo& kInfo = kSimpleLockInfo;
  enum Rule : unsigned { SeenBefore, NoMoreLocks, NewPeriod, ReadRemoved };

  static Entry see(const Thread& t, const Access& a, bool writes, Env& env) {
    return {Base::see(t, a, env), env.locks_for(env.held(), writes)};
  }

  // False if nothing new can come of it.
  static bool remember(Queue& queue, const Entry& now, Env& env) {
    uint32_t own = 0, oldest = 0;
    for (uint32_t i = queue.size(); i-- > 0;) {
      if (same_entry(queue[i], now, env)) return merge(queue[i], now, env);
      if (queue[i].seen.mark.epoch.slot() != now.seen.mark.epoch.slot()) continue;
      ++own;
      oldest = i;
    }
    env.count(NewPeriod);
    if (env.queue_length != 0 && own == env.queue_length) queue.remove(oldest);
    queue.push(now, env);
    return true;
  }

  static void check(const Thread& t, const Queue& earlier, bool, const Entry& now, bool, Env& env) {
    for (uint32_t i = 0; i < earlier.size(); ++i) {
      const Entry& e = earlier[i];
      if ((e.locks == 0 || now.locks == 0) && Base::concurrent(e.seen, t)) Base::report(e.seen, t, env);
    }
  }

  static void written(Var& x, const Entry& now, Env& env) {
    if (env.queue_length != 0) remove_own_read(x.reads, now, env);
  }

 private:
  // With q=0 sites are kept apart, and accesses without a lock from those with one, so that none stands for another.
  static bool same_entry(const Entry& e, const Entry& now, Env& env) {
    if (env.queue_length != 0) return e.seen.mark.epoch == now.seen.mark.epoch;
    return Base::same_kind(e.seen, now.seen) && (e.locks == 0) == (now.locks == 0);
  }

  static bool merge(Entry& e, const Entry& now, Env& env) {
    if (e.locks <= now.locks && e.seen.full == now.seen.full && Base::same_kind(e.seen, now.seen)) {
      env.count(SeenBefore);
      return false;
    }
    if (env.queue_length != 0 && now.locks > e.locks) return true;
    env.count(NoMoreLocks);
    e = now;
    return true;
  }

  static void remove_own_read(Queue& reads, const Entry& now, Env& env) {
    for (uint32_t i = reads.size(); i-- > 0;) {
      if (reads[i].seen.mark.epoch != now.seen.mark.epoch) continue;
      if (reads[i].locks <= now.locks) return;
      env.count(ReadRemoved);
      reads.remove(i);
      return;
    }
  }
};

}  // namespace pf
