// SimpleLock: weak happens-before, and of the locks held only how many they were.
// Guarantee: with q=0, reports exactly the pairs of sites with accesses that conflict, are unordered by weak happens-before and
// of which one holds no lock (a read lock protects reads only). With a queue of length q, a subset of these.
// Source: SimpleLock (seed 001), algorithms 3-8 with the corrections of our notes: fork ticks the parent, the check is
// "unordered, and one of the two lock counts is zero", and a write with fewer locks removes the thread's own last read.
// A queue entry is the access with the fewest locks of its thread and clock period; q=0 keeps one per period and site.
//
// A queue is there to name the variable, not every pair. So an access may stand for another with no fewer locks if whoever races with that
// one races with it, too: one of the same thread and period, for what the thread does there again without letting go of a lock;
// a later one that weak happens-before orders after all of it, for what it supersedes; a write for reads. This is how
// FastTrack keeps variables small, and it leaves verdicts as they are: what is ordered weakly is ordered fully.
// Cost: an access looks at q entries per thread that touched the variable since it was last ordered.
#pragma once
#include "core/array.h"
#include "core/hybrid.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kSimpleLockRules[] = {"seen before", "no more locks", "new period", "superseded"};
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
  enum Rule : unsigned { SeenBefore, NoMoreLocks, NewPeriod, Superseded };

  enum Kind : uint8_t { Read = 0, Write = 1, AtomicRead = 2, AtomicWrite = 3 };

  static constexpr unsigned kLockBits = 30;
  static constexpr uint32_t kMaxLocks = (1U << kLockBits) - 1;  // far more than a thread can hold

  struct Entry : Stamp {
    uint32_t locks : kLockBits;  // how many protected it
    uint32_t kind : 2;
  };
  using Queue = Array<Entry, Env, Env::kConcurrent ? 4 : 2>;  // enough for most variables
  struct Var {
    Queue seen;  // by all threads, oldest first: each thread has a queue of every kind in it
  };

  // Of a variable that is a Var, or whose `seen` is some other queue.
  static void read(const Thread& t, auto& x, const Access& a, Env& env) { access<Read>(t, x.seen, a, env); }
  static void write(const Thread& t, auto& x, const Access& a, Env& env) { access<Write>(t, x.seen, a, env); }
  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) { access<AtomicRead>(t, x.seen, a, env); }
  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    access<AtomicWrite>(t, x.seen, a, env);
  }

  // Whether nobody will ever be able to tell them apart.
  static bool same(const Var& x, const Var& y) {
    if (x.seen.size() != y.seen.size()) return false;
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      const Entry &a = x.seen[i], &b = y.seen[i];
      if (a.full != b.full || a.access != b.access || a.weak != b.weak || a.locks != b.locks || a.kind != b.kind)
        return false;
    }
    return true;
  }
  static Var clone(const Var& x, Env& env) { return {x.seen.clone(env)}; }
  static void clear(auto& x, Env& env) { x.seen.release(env); }

 private:
  static bool conflict(uint32_t a, uint32_t b) { return ((a | b) & Write) != 0 && (a & b & AtomicRead) == 0; }

  // Whether who conflicts with b conflicts with a.
  static bool covers(uint32_t a, uint32_t b) { return a == b || a == Write; }

  template <Kind kKind>
  static void access(const Thread& t, auto& seen, const Access& a, Env& env) {
    const Entry now{Base::stamp(t, a), env.locks_for(env.held(), (kKind & Write) != 0) & kMaxLocks, kKind};
    const uint32_t q = length(seen, env);
    if (is_seen(seen, now, q)) {
      env.count(SeenBefore);
      return;
    }
    check(t, seen, now, q, env);
    remember(seen, now, q, env);
  }

  // Of queues in a form that is for one length, the compiler knows it.
  template <class Seen>
  static uint32_t length(const Seen&, const Env& env) {
    if constexpr (requires { Seen::kLength; }) return Seen::kLength;
    return env.queue_length;
  }

  // Whether nothing new can come of it.
  [[gnu::always_inline]] static bool is_seen(const auto& queue, const Entry& now, uint32_t q) {
    for (uint32_t i = queue.size(); i-- > 0;) {
      const Entry e = queue[i];
      if (e.full != now.full || e.locks > now.locks || !covers(e.kind, now.kind)) continue;
      if (q != 0 || same_entry(e, now, q)) return true;
    }
    return false;
  }

  // The order is asked last: it costs the most.
  [[gnu::always_inline]] static void check(const Thread& t, auto& earlier, const Entry& now, uint32_t q, Env& env) {
    for (uint32_t i = earlier.size(); i-- > 0;) {
      const Entry e = earlier[i];
      const bool may_race = (e.locks == 0 || now.locks == 0) && conflict(e.kind, now.kind);
      const bool may_supersede = supersedes(now, e, q);
      if (!may_race && !may_supersede) continue;
      if (Base::concurrent(e, t)) {
        if (may_race) Base::report(e, t, env);
      } else if (may_supersede) {
        env.count(Superseded);
        earlier.remove(i);
      }
    }
  }
  // If e is ordered before it. Of the thread's own queue remember() takes care.
  [[gnu::always_inline]] static bool supersedes(const Entry& now, const Entry& e, uint32_t q) {
    if (q == 0 || e.locks < now.locks || !covers(now.kind, e.kind)) return false;
    return e.kind != now.kind || e.weak.slot() != now.weak.slot();
  }

  [[gnu::always_inline]] static void remember(auto& queue, const Entry& now, uint32_t q, Env& env) {
    uint32_t own = 0, oldest = 0;
    for (uint32_t i = queue.size(); i-- > 0;) {
      const Entry e = queue[i];
      if (e.kind != now.kind) continue;
      if (same_entry(e, now, q)) {
        if (q != 0 && now.locks > e.locks) return;
        env.count(NoMoreLocks);
        return queue.set(i, now);
      }
      if (e.weak.slot() != now.weak.slot()) continue;
      ++own;
      oldest = i;
    }
    env.count(NewPeriod);
    if (own == 1 && q == 1) return queue.set(oldest, now);
    if (q != 0 && own == q) queue.remove(oldest);
    queue.push(now, env);
  }

  // Of one weak epoch, for which any tick of it may stand (core/hybrid.h). With q=0 sites are kept apart, and accesses without a lock
  // from those with one, so that none stands for another.
  [[gnu::always_inline]] static bool same_entry(const Entry& e, const Entry& now, uint32_t q) {
    if (q != 0) return e.weak.slot() == now.weak.slot() && e.weak.clock() >= now.weak.clock();
    return Base::same_kind(e, now) && (e.locks == 0) == (now.locks == 0);
  }
};

}  // namespace pf
