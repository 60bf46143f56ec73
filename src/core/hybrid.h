// What the hybrid detectors share: the weak order, which lock order does not enter, beside the full one.
//
// A hybrid finds pairs that are unordered by weak happens-before and not protected by a common lock. Such a pair is real
// when full happens-before does not order it either, and potential when only the order in which this run happened to take
// locks did. Both orders are happens_before.h's, side by side: one thread, one slot and one clock for each.
#pragma once
#include "core/happens_before.h"
#include "core/lockset.h"
#include "core/race.h"

namespace pf {

// What a hybrid needs of its host beyond the usual.
template <class E>
concept LocksetEnvironment = Environment<E> && requires(E& env, const Mark<E>& prior, LocksetId set, bool writes) {
  { E::same_place(prior.access, prior.access) } -> std::same_as<bool>;  // the same site and operation
  { env.held() } -> std::same_as<LocksetId>;                            // by the thread whose access is being processed
  { env.locks_for(set, writes) } -> std::same_as<uint32_t>;
  { env.share_lock(set, writes, set, writes) } -> std::same_as<bool>;
  { env.is_subset(set, set) } -> std::same_as<bool>;
  { env.protecting(set, writes) } -> std::same_as<LocksetId>;   // those of the set that protect such an access
  { env.common(set, set, writes) } -> std::same_as<LocksetId>;  // those of the first set that the second has for it
  env.race(prior, Verdict::Potential);
};

// A host that wants to find out which lock hid a potential race: told the full epoch of the earlier access too.
template <class E>
concept ExplainsOrder = requires(E& env, const Mark<E>& prior) { env.race(prior, Verdict::Potential, prior.epoch); };

template <class Env>
struct Hybrid {
  using Weak = HappensBefore<Env>;  // never hears of locks
  using Full = HappensBefore<Env>;
  using Epoch = typename Env::Epoch;
  using Access = typename Env::Access;

  struct Thread {
    typename Weak::Thread weak;
    typename Full::Thread full;
  };
  using Lock = typename Full::Lock;
  template <class W, class F>
  struct Both {
    W weak;
    F full;
  };
  using Condition = Both<typename Weak::Condition, typename Full::Condition>;
  using Barrier = Both<typename Weak::Barrier, typename Full::Barrier>;
  using Semaphore = Both<typename Weak::Semaphore, typename Full::Semaphore>;
  using Atomic = Both<typename Weak::Atomic, typename Full::Atomic>;
  using Grave = Both<typename Weak::Grave, typename Full::Grave>;

  // An access as a hybrid remembers it: in both orders, and with its locks.
  struct Stamp {
    Epoch weak, full;
    Access access;
  };
  struct Sighting : Stamp {
    LocksetId locks;
  };

  static Epoch epoch(const Thread& t) { return Weak::epoch(t.weak); }
  // Every tick of the weak order is one of the full order, too: a period has one epoch of each. No lock is let go of in it.
  static Epoch period(const Thread& t) { return Full::epoch(t.full); }
  static Stamp stamp(const Thread& t, const Access& a) { return {epoch(t), period(t), a}; }
  static Sighting see(const Thread& t, const Access& a, Env& env) { return {stamp(t, a), env.held()}; }
  // Of the same thread, weak epoch, site and operation.
  static bool same_kind(const Stamp& a, const Stamp& b) {
    return a.weak == b.weak && Env::same_place(a.access, b.access);
  }
  static bool concurrent(const Stamp& s, const Thread& t) { return !Weak::ordered(s.weak, t.weak); }
  static void report(const Stamp& s, const Thread& t, Env& env) {
    const Mark<Env> mark{s.weak, s.access};
    if (!Full::ordered(s.full, t.full)) return env.race(mark, Verdict::Real);
    if constexpr (ExplainsOrder<Env>) {
      if (concurrent(s, t)) return env.race(mark, Verdict::Potential, s.full);
    }
    env.race(mark, Verdict::Potential);
  }

  // --- every event to both orders ---

  static void start(Thread& t, ThreadId id, Slot slot) {
    Weak::start(t.weak, id, slot);
    Full::start(t.full, id, slot);
  }
  static Grave bury(const Thread& t) { return {Weak::bury(t.weak), Full::bury(t.full)}; }
  static bool may_succeed(const Grave& g, const Thread& parent) {
    return Weak::may_succeed(g.weak, parent.weak) && Full::may_succeed(g.full, parent.full);
  }
  static void succeed(Thread& t, ThreadId id, const Grave& g) {
    Weak::succeed(t.weak, id, g.weak);
    Full::succeed(t.full, id, g.full);
  }
  static void destroy(Thread& t, Env& env) {
    Weak::destroy(t.weak, env);
    Full::destroy(t.full, env);
  }
  static void fork(Thread& t, Thread& child, Env& env) {
    Weak::fork(t.weak, child.weak, env);
    Full::fork(t.full, child.full, env);
  }
  static void join(Thread& t, const Thread& child, Env& env) {
    Weak::join(t.weak, child.weak, env);
    Full::join(t.full, child.full, env);
  }
  static void acquire(Thread& t, Lock& l, Env& env) { Full::acquire(t.full, l, env); }
  static void release(Thread& t, Lock& l, Env& env) { Full::release(t.full, l, env); }
  static void read_acquire(Thread& t, Lock& l, Env& env) { Full::read_acquire(t.full, l, env); }
  static void read_release(Thread& t, Lock& l, Env& env) { Full::read_release(t.full, l, env); }
  static void wait(Thread& t, Condition& c, Env& env) {
    Weak::wait(t.weak, c.weak, env);
    Full::wait(t.full, c.full, env);
  }
  static void notify(Thread& t, Condition& c, Env& env) {
    Weak::notify(t.weak, c.weak, env);
    Full::notify(t.full, c.full, env);
  }
  static void wake(Thread& t, Env& env) {
    Weak::wake(t.weak, env);
    Full::wake(t.full, env);
  }
  static void barrier_enter(Thread& t, Barrier& b, Env& env) {
    Weak::barrier_enter(t.weak, b.weak, env);
    Full::barrier_enter(t.full, b.full, env);
  }
  static void barrier_leave(Thread& t, Env& env) {
    Weak::barrier_leave(t.weak, env);
    Full::barrier_leave(t.full, env);
  }
  static void sem_post(Thread& t, Semaphore& s, Env& env) {
    Weak::sem_post(t.weak, s.weak, env);
    Full::sem_post(t.full, s.full, env);
  }
  static void sem_wait(Thread& t, const Semaphore& s, Env& env) {
    Weak::sem_wait(t.weak, s.weak, env);
    Full::sem_wait(t.full, s.full, env);
  }
  static void atomic_before(Thread& t, const Atomic& a, Op op, MemoryOrder order, Env& env) {
    Weak::atomic_before(t.weak, a.weak, op, order, env);
    Full::atomic_before(t.full, a.full, op, order, env);
  }
  static void atomic_after(Thread& t, Atomic& a, Op op, MemoryOrder order, Env& env) {
    Weak::atomic_after(t.weak, a.weak, op, order, env);
    Full::atomic_after(t.full, a.full, op, order, env);
  }
  static void fence(Thread& t, MemoryOrder order, Env& env) {
    Weak::fence(t.weak, order, env);
    Full::fence(t.full, order, env);
  }
  static void forget(Lock& l, Env& env) { Full::forget(l, env); }
  static void forget(Semaphore& s, Env& env) {
    Weak::forget(s.weak, env);
    Full::forget(s.full, env);
  }
  static void forget(Atomic& a, Env& env) {
    Weak::forget(a.weak, env);
    Full::forget(a.full, env);
  }
};

}  // namespace pf
