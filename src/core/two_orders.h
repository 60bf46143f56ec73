// Two orders of happens_before.h side by side, fed with the same events but for those that a detector brings to one of them alone: one
// thread, one slot and one clock for each.
#pragma once
#include "core/happens_before.h"

namespace pf {

template <class Env>
struct TwoOrders {
  using Weak = HappensBefore<Env>;
  using Full = HappensBefore<Env>;  // all of the weak one, and more

  struct Thread {
    typename Weak::Thread weak;
    typename Full::Thread full;
  };
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
