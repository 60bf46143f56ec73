// What the hybrid detectors share: the weak order, which lock order does not enter, beside the full one.
//
// A hybrid finds pairs that are unordered by weak happens-before and not protected by a common lock. Such a pair is real
// when full happens-before does not order it either, and potential when only the order in which this run happened to take
// locks did.
#pragma once
#include "core/lockset.h"
#include "core/race.h"
#include "core/two_orders.h"

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
struct Hybrid : TwoOrders<Env> {
  using typename TwoOrders<Env>::Weak;  // never hears of locks
  using typename TwoOrders<Env>::Full;
  using TwoOrders<Env>::forget;
  using Epoch = typename Env::Epoch;
  using Access = typename Env::Access;
  using Lock = typename Full::Lock;

  // An access as a hybrid remembers it: in both orders, and with its locks.
  struct Stamp {
    Epoch weak, full;
    Access access;
  };
  struct Sighting : Stamp {
    LocksetId locks;
  };

  // The orders tick together, so that one clock tells where an access is in both: who learns weakly of a thread learns of all that it did up to
  // some tick. But to let go of a lock tells nobody anything in the weak order; there it is the same epoch as before, named by its first tick.
  struct Thread : TwoOrders<Env>::Thread {
    Epoch released{}, weak_since{};  // the tick of the latest release of a lock, and the weak epoch that went on there
  };
  static Epoch epoch(const Thread& t) {
    const Epoch now = Weak::epoch(t.weak);
    return now == t.released ? t.weak_since : now;
  }
  // No lock is let go of in it.
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

  // --- locks, to the full order alone ---

  static void acquire(Thread& t, Lock& l, Env& env) { Full::acquire(t.full, l, env); }
  static void release(Thread& t, Lock& l, Env& env) {
    Full::release(t.full, l, env);
    tick_weakly(t, env);
  }
  static void read_acquire(Thread& t, Lock& l, Env& env) { Full::read_acquire(t.full, l, env); }
  static void read_release(Thread& t, Lock& l, Env& env) {
    Full::read_release(t.full, l, env);
    tick_weakly(t, env);
  }
  static void forget(Lock& l, Env& env) { Full::forget(l, env); }

 private:
  static void tick_weakly(Thread& t, Env& env) {
    const Epoch before = epoch(t);
    Weak::tick(t.weak, env);
    t.released = Weak::epoch(t.weak);
    t.weak_since = before.slot() == t.weak.slot ? before : t.released;
  }
};

}  // namespace pf
