// SimpleLock: weak happens-before, and of the locks held only how many they were.
// Guarantee: with q=0, reports exactly the pairs of sites with accesses that conflict, are unordered by weak happens-before and
// of which one holds no lock (a read lock protects reads only). With a queue of length q, a subset of these.
// Source: SimpleLock (seed 001), algorithms 3-8 with the corrections of our notes: fork ticks the parent, the check is
// "unordered, and one of the two lock counts is zero", and a write with fewer locks removes the thread's own last read.
// A queue entry is the access with the fewest locks of its thread and clock period; q=0 keeps one per period and site. So with a queue,
// what a thread does again in one period without letting go of a lock adds nothing: whoever races with it races with the entry,
// and that pair names the variable. Nor does a read add to a write of the same thread, period and locks.
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
struct SimpleLock : Hybrid<Env> {
  static_assert(LocksetEnvironment<Env>);
  using Base = Hybrid<Env>;
  using typename Base::Access;
  using typename Base::Stamp;
  using typename Base::Thread;
  static constexpr const EngineInfo& kInfo = kSimpleLockInfo;
  enum Rule : unsigned { SeenBefore, NoMoreLocks, NewPeriod, ReadRemoved };

  enum Kind : uint8_t { Read = 0, Write = 1, AtomicRead = 2, AtomicWrite = 3 };

  struct Entry : Stamp {
    uint32_t locks;  // how many protected it
    Kind kind;
  };
  using Queue = Array<Entry, Env>;
  struct Var {
    Queue seen;  // by all threads, oldest first: each thread has a queue of every kind in it
  };

  static void read(const Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, Read, env); }
  static void write(const Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, Write, env); }
  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, AtomicRead, env); }
  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, AtomicWrite, env); }

  static bool settled(const Thread& t, const Var& x, Op op, Env& env) {
    const Entry now = see(t, {}, writes(op) ? Write : Read, env);
    for (uint32_t i = x.seen.size(); env.queue_length != 0 && i-- > 0;) {
      if (stands_for(x.seen[i], now)) return true;
    }
    return false;
  }

  static Var clone(const Var& x, Env& env) { return {x.seen.clone(env)}; }
  static void clear(Var& x, Env& env) { x.seen.release(env); }

 private:
  static Entry see(const Thread& t, const Access& a, Kind kind, Env& env) {
    return {Base::stamp(t, a), env.locks_for(env.held(), (kind & Write) != 0), kind};
  }
  static bool conflict(Kind a, Kind b) { return ((a | b) & Write) != 0 && (a & b & AtomicRead) == 0; }

  static void access(const Thread& t, Var& x, const Access& a, Kind kind, Env& env) {
    const Entry now = see(t, a, kind, env);
    if (!remember(x.seen, now, env)) return;
    check(t, x.seen, now, env);
    if (kind == Write && env.queue_length != 0) remove_own_read(x.seen, now, env);
  }

  // Whoever races with `now`, before or after, races with e, too, and as really.
  static bool stands_for(const Entry& e, const Entry& now) {
    return e.full == now.full && e.locks <= now.locks && (e.kind == now.kind || (e.kind == Write && now.kind == Read));
  }

  // False if nothing new can come of it.
  static bool remember(Queue& queue, const Entry& now, Env& env) {
    uint32_t own = 0, oldest = 0;
    for (uint32_t i = queue.size(); i-- > 0;) {
      const Entry& e = queue[i];
      if (stands_for(e, now) && (env.queue_length != 0 || same_entry(e, now, env))) {
        env.count(SeenBefore);
        return false;
      }
      if (e.kind != now.kind) continue;
      if (same_entry(e, now, env)) return merge(queue[i], now, env);
      if (e.mark.epoch.slot() != now.mark.epoch.slot()) continue;
      ++own;
      oldest = i;
    }
    env.count(NewPeriod);
    if (env.queue_length != 0 && own == env.queue_length) queue.remove(oldest);
    queue.push(now, env);
    return true;
  }

  // With q=0 sites are kept apart, and accesses without a lock from those with one, so that none stands for another.
  static bool same_entry(const Entry& e, const Entry& now, Env& env) {
    if (env.queue_length != 0) return e.mark.epoch == now.mark.epoch;
    return Base::same_kind(e, now) && (e.locks == 0) == (now.locks == 0);
  }

  static bool merge(Entry& e, const Entry& now, Env& env) {
    if (env.queue_length != 0 && now.locks > e.locks) return true;
    env.count(NoMoreLocks);
    e = now;
    return true;
  }

  static void remove_own_read(Queue& queue, const Entry& now, Env& env) {
    for (uint32_t i = queue.size(); i-- > 0;) {
      if (queue[i].kind != Read || queue[i].mark.epoch != now.mark.epoch) continue;
      if (queue[i].locks <= now.locks) return;
      env.count(ReadRemoved);
      queue.remove(i);
      return;
    }
  }

  static void check(const Thread& t, const Queue& earlier, const Entry& now, Env& env) {
    for (uint32_t i = 0; i < earlier.size(); ++i) {
      const Entry& e = earlier[i];
      if ((e.locks == 0 || now.locks == 0) && conflict(e.kind, now.kind) && Base::concurrent(e, t)) {
        Base::report(e, t, env);
      }
    }
  }
};

}  // namespace pf
