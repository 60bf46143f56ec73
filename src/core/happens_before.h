// Happens-before with vector clocks: what synchronization does to threads and objects, shared by every detector that
// orders accesses by clocks. The definition is docs/happens-before.md; fed with everything but locks, it is weak
// happens-before (hybrid.h).
//
// Invariant that the shortcuts rest on: a thread publishes at most once per tick, so whoever knows c@s knows
// everything that s's thread knew when it published at c. Every publication therefore ends with a tick.
//
// kTimeless: time passes only where the environment samples (PACER, seed 003, algorithms 9-11 and 16). Threads then publish
// the same time again and again, and the shortcuts rest on versions instead: a thread counts the changes of its clock, a
// publication says which version v@s it is of, and each thread remembers the latest version it received of every slot. In a
// period without samples synchronization therefore is O(1) except where it brings something new. A version is the name of what a
// clock was; a thread that knows just what another did goes by that one's name, so that threads who know the same publish
// the same, and it is seen at once that nothing changes (the `..._is_idle` below).
//
// Caller serializes: Thread = its owner; objects = one caller at a time. Threads must not move in memory
// (conditions point at their waiters).
#pragma once
#include <new>
#include <type_traits>

#include "core/clock.h"
#include "core/env.h"
#include "core/event.h"

namespace pf {

struct NoVersion {};

// What a thread knew at one moment, or the join of several such.
template <class Env, bool kTimeless = false>
struct Published {
  using Epoch = typename Env::Epoch;
  VectorClock<Env> clock;
  Epoch last{};  // of its only publisher; "never" for a join of several, which has everything in `clock`
  [[no_unique_address]] std::conditional_t<kTimeless, Epoch, NoVersion>
      version{};  // of the publisher's clock, likewise

  bool empty() const { return clock.empty() && last.never(); }
  void clear(Env& env) {
    clock.clear(env);
    last = {};
    version = {};
  }
  void assign(const Published& other, Env& env) {
    clock.assign(other.clock, env);
    last = other.last;
    version = other.version;
  }
  void join(const Published& other, Env& env) {
    if (empty()) {
      assign(other, env);
      return;
    }
    fold(env);
    clock.join(other.clock, env);
    if (!other.last.never()) clock.raise(other.last.slot(), other.last.clock(), env);
  }

 private:
  void fold(Env& env) {
    if (!last.never()) clock.raise(last.slot(), last.clock(), env);
    last = {};
    version = {};
  }
};

// The versions that a thread keeps.
template <class Env>
struct Versions {
  typename Env::Epoch::Clock own = 1;
  typename Env::Epoch name{};  // of the clock as it is: its own latest version, or somebody's who knew the same
  VectorClock<Env> received;   // of the other slots
};

template <class Env, bool kTimeless = false>
struct HappensBefore {
  using Epoch = typename Env::Epoch;
  using Clock = typename Epoch::Clock;
  using Published = pf::Published<Env, kTimeless>;

  struct Barrier;
  struct Round {
    Barrier* of;  // a thread may leave another barrier than it entered, in a trace that is not well-formed
    VectorClock<Env> gathered;
    uint32_t members;
  };
  struct Condition;

  struct Thread {
    Slot slot{};
    Clock now = 1;           // the thread's own entry, kept out of `known` so that a tick leaves `known` shared
    VectorClock<Env> known;  // of the other slots
    ThreadId id{};
    [[no_unique_address]] std::conditional_t<kTimeless, Versions<Env>, NoVersion> versions;
    // Seldom used:
    Published release_fence;  // what the latest release fence published
    Published read_relaxed;   // what relaxed atomic reads saw, for the next acquire fence
    Published woken_by;       // notifications since wait()
    Condition* waits_on = nullptr;
    Thread* next_waiter = nullptr;
    Round* round = nullptr;
  };
  struct Lock {
    Published written;  // by releases of the write side (or of a mutex)
    Published read;     // by releases of the read side since then
  };
  struct Condition {
    Thread* waiters = nullptr;
  };
  struct Barrier {
    Round* open = nullptr;
  };
  struct Semaphore {
    Published posted;
  };
  struct Atomic {
    Published released;  // what a read of the current value takes
  };

  static Epoch epoch(const Thread& t) { return {t.slot, t.now}; }

  // The last tick of a slot that comes before what t does now.
  static Clock known(const Thread& t, Slot s) { return s == t.slot ? t.now - 1 : t.known.get(s); }

  // Hot: one compare when e is t's own, else two loads and a compare.
  static bool ordered(Epoch e, const Thread& t) { return e.slot() == t.slot || t.known.covers(e); }

  // An access of t meets an earlier one that conflicts with it.
  [[gnu::always_inline]] static void meet(const Mark<Env>& m, const Thread& t, Env& env) {
    if (!ordered(m.epoch, t)) env.race(m);
  }

  // --- threads ---

  static void start(Thread& t, ThreadId id, Slot slot) {
    t.id = id;
    t.slot = slot;
    if constexpr (kTimeless) t.versions.name = own_version(t);
  }
  static void fork(Thread& t, Thread& child, Env& env) {
    learn_all(child, t, env);
    tick(t, env);
  }
  static void join(Thread& t, const Thread& child, Env& env) { learn_all(t, child, env); }

  // A later thread may take a dead thread's slot if its parent knows all that the dead thread did.
  struct Grave {
    Epoch last;  // the dead thread's last tick
    [[no_unique_address]] std::conditional_t<kTimeless, Epoch, NoVersion> version;
  };
  static Grave bury(const Thread& t) { return {epoch(t), own_version(t)}; }
  static bool may_succeed(const Grave& g, const Thread& parent) {
    if constexpr (kTimeless) {
      if (g.version.clock() == Epoch::kMaxClock || !parent.versions.received.covers(g.version)) return false;
    }
    return g.last.clock() != Epoch::kMaxClock && ordered(g.last, parent);
  }
  static void succeed(Thread& t, ThreadId id, const Grave& g) {
    if constexpr (kTimeless) t.versions.own = g.version.clock() + 1;
    t.now = g.last.clock() + 1;
    start(t, id, g.last.slot());
  }

  static void destroy(Thread& t, Env& env) {
    forget_wait(t, env);
    t.known.clear(env);
    if constexpr (kTimeless) t.versions.received.clear(env);
    t.release_fence.clear(env);
    t.read_relaxed.clear(env);
  }

  // --- mutexes and rwlocks ---

  static void acquire(Thread& t, const Lock& l, Env& env) {
    learn(t, l.written, env);
    learn(t, l.read, env);
  }
  static void release(Thread& t, Lock& l, Env& env) {
    contribute(t, l.written, env);
    l.read.clear(env);  // the holder acquired what readers had released
    tick(t, env);
  }
  static void read_acquire(Thread& t, const Lock& l, Env& env) { learn(t, l.written, env); }
  static void read_release(Thread& t, Lock& l, Env& env) {
    contribute(t, l.read, env);
    tick(t, env);
  }

  // --- condition variables ---

  static void wait(Thread& t, Condition& c, Env& env) {
    forget_wait(t, env);
    t.waits_on = &c;
    t.next_waiter = c.waiters;
    c.waiters = &t;
  }
  static void notify(Thread& t, Condition& c, Env& env) {
    if (c.waiters == nullptr) return;
    for (Thread* w = c.waiters; w != nullptr; w = w->next_waiter) contribute(t, w->woken_by, env);
    tick(t, env);
  }
  static void wake(Thread& t, Env& env) {
    learn(t, t.woken_by, env);
    forget_wait(t, env);
  }

  // --- barriers and semaphores ---

  static void barrier_enter(Thread& t, Barrier& b, Env& env) {
    if (b.open == nullptr) b.open = new (env.allocate(sizeof(Round))) Round{&b, {}, 0};
    t.round = b.open;
    ++t.round->members;
    if constexpr (kTimeless) env.clock_operation(true);
    t.round->gathered.join(t.known, env);
    t.round->gathered.raise(t.slot, t.now, env);
    tick(t, env);
  }
  static void barrier_leave(Thread& t, Env& env) {
    Round* round = std::exchange(t.round, nullptr);
    if (round == nullptr) return;
    if (round->of->open == round) round->of->open = nullptr;  // the first to leave closes the round
    learn(t, Published{round->gathered, {}, {}}, env);
    if (--round->members != 0) return;
    round->gathered.clear(env);
    env.deallocate(round, sizeof(Round));
  }

  static void sem_post(Thread& t, Semaphore& s, Env& env) {
    contribute(t, s.posted, env);
    tick(t, env);
  }
  static void sem_wait(Thread& t, const Semaphore& s, Env& env) { learn(t, s.posted, env); }

  // --- atomics and fences: the two halves of an operation, around its access ---

  static void atomic_before(Thread& t, const Atomic& a, Op op, MemoryOrder order, Env& env) {
    if (op == Op::AtomicStore) return;
    if (acquires(order)) {
      learn(t, a.released, env);
    } else if (!a.released.empty() && !covers(t, a.released)) {
      t.read_relaxed.join(a.released, env);
    }
  }
  static void atomic_after(Thread& t, Atomic& a, Op op, MemoryOrder order, Env& env) {
    if (op == Op::AtomicLoad) return;
    if (op == Op::AtomicStore) return atomic_store(t, a, order, env);
    if (releases(order)) {
      contribute(t, a.released, env);
      tick(t, env);
    } else if (!t.release_fence.empty()) {
      a.released.join(t.release_fence, env);
    }
  }
  static void fence(Thread& t, MemoryOrder order, Env& env) {
    if (acquires(order)) {
      learn(t, t.read_relaxed, env);
      t.read_relaxed.clear(env);
    }
    if (releases(order)) {
      t.release_fence.assign(snapshot(t), env);
      tick(t, env);
    }
  }

  // Whether these would change nothing. They follow no pointer of the object, so a host may ask while others change it, if it then
  // makes sure that nobody did.
  static bool acquire_is_idle(const Thread& t, const Lock& l) { return is_known(t, l.written) && is_known(t, l.read); }
  static bool read_acquire_is_idle(const Thread& t, const Lock& l) { return is_known(t, l.written); }
  static bool release_is_idle(const Thread& t, const Lock& l, const Env& env) {
    return has_published(t, l.written, env) && l.read.empty();
  }
  static bool read_release_is_idle(const Thread& t, const Lock& l, const Env& env) {
    return has_published(t, l.read, env);
  }
  // Both halves. Of a compare-exchange: as the rmw that it may be.
  static bool atomic_is_idle(const Thread& t, const Atomic& a, Op op, MemoryOrder order, const Env& env) {
    if (op != Op::AtomicStore && !is_known(t, a.released)) return false;
    if (op == Op::AtomicLoad) return true;
    if (releases(order)) return has_published(t, a.released, env);
    return t.release_fence.empty() && (op == Op::AtomicRmw || a.released.empty());
  }

  // What they publish needs no memory of its own: it may be learnt from a copy that a host made while others change the object, if it
  // then makes sure that nobody did.
  static bool is_small(const Lock& l) { return l.written.clock.is_small() && l.read.clock.is_small(); }
  static bool is_small(const Atomic& a) { return a.released.clock.is_small(); }

  // Their memory ends.
  static void forget(Lock& l, Env& env) {
    l.written.clear(env);
    l.read.clear(env);
  }
  static void forget(Semaphore& s, Env& env) { s.posted.clear(env); }
  static void forget(Atomic& a, Env& env) { a.released.clear(env); }

  // --- the moves that the rules above are made of ---

  // Borrows t's clock: valid until t learns or ticks, not to be cleared.
  static Published snapshot(const Thread& t) { return {t.known, epoch(t), version(t)}; }

  // C_t := C_t ⊔ what was published. O(1) when t knows it already.
  static void learn(Thread& t, const Published& from, Env& env) {
    const bool known = is_known(t, from);
    if constexpr (kTimeless) env.clock_operation(!known);
    if (!known) learn_news(t, from, env);
  }

  // to := to ⊔ C_t. O(1) when t knows all that was there.
  static void contribute(const Thread& t, Published& to, Env& env) {
    if constexpr (kTimeless) env.clock_operation(!is_known(t, to));
    if (covers(t, to)) {
      to.assign(snapshot(t), env);
    } else {
      to.join(snapshot(t), env);
    }
  }

  static bool covers(const Thread& t, const Published& p) {
    if constexpr (kTimeless) return is_known(t, p) || covers_clock(t, p);
    return p.last.never() ? covers_clock(t, p) : is_known(t, p);
  }

  // A slot whose clock is used up is left for the next one, as if the thread had forked its own continuation.
  static void tick(Thread& t, Env& env) {
    if constexpr (kTimeless) {
      if (!env.samples()) return;
    }
    if (t.now == Epoch::kMaxClock) [[unlikely]]
      return leave_slot(t, env);
    ++t.now;
    if constexpr (kTimeless) change_version(t, env);
  }

 private:
  // Ends the release sequence; an rmw continues it.
  static void atomic_store(Thread& t, Atomic& a, MemoryOrder order, Env& env) {
    a.released.assign(releases(order) ? snapshot(t) : t.release_fence, env);
    if constexpr (kTimeless) env.clock_operation(false);
    if (releases(order)) tick(t, env);
  }

  static void learn_news(Thread& t, const Published& from, Env& env) {
    if constexpr (kTimeless) {
      const bool is_news = !covers_clock(t, from);
      if (is_news) take_in(t, from, env);
      if (!from.version.never()) t.versions.received.raise(from.version.slot(), from.version.clock(), env);
      if (!env.samples() && knows_no_more(t, from)) {
        if (is_news || from.version < t.versions.name) t.versions.name = from.version;
      } else if (is_news) {
        change_version(t, env);
      }
    } else {
      take_in(t, from, env);
    }
  }

  // Who knows all that another thread does knows the versions that it received, too. A new thread in the slot of a dead one knows nothing
  // before, not even what goes by that one's name.
  static void learn_all(Thread& t, const Thread& from, Env& env) {
    if constexpr (!kTimeless) {
      learn(t, snapshot(from), env);
    } else {
      env.clock_operation(true);
      learn_news(t, snapshot(from), env);
      t.versions.received.join(from.versions.received, env);
      t.versions.received.raise(from.slot, from.versions.own, env);
    }
  }

  static auto version(const Thread& t) {
    if constexpr (kTimeless) {
      return t.versions.name;
    } else {
      return NoVersion{};
    }
  }
  static auto own_version(const Thread& t) {
    if constexpr (kTimeless) {
      return Epoch{t.slot, t.versions.own};
    } else {
      return NoVersion{};
    }
  }

  // From one compare: t got all of it before.
  static bool is_known(const Thread& t, const Published& p) {
    if constexpr (kTimeless) {
      if (p.version.never()) return p.empty();
      return p.version.slot() == t.slot || t.versions.received.covers(p.version);
    } else {
      return p.last.never() ? p.clock.empty() : ordered(p.last, t);
    }
  }
  // The same, while time stands still.
  static bool has_published(const Thread& t, const Published& p, const Env& env) {
    if constexpr (kTimeless) return !env.samples() && p.version == version(t);
    return false;
  }
  // Nobody knows t's own slot better than t.
  static bool covers_clock(const Thread& t, const Published& p) {
    return (p.last.never() || ordered(p.last, t)) && t.known.covers_except(p.clock, t.slot);
  }
  // Of what one thread published: together with the above, it is all that t knows.
  static bool knows_no_more(const Thread& t, const Published& p) {
    if (p.version.never() || p.clock.get(t.slot) < t.now) return false;
    return t.known.get(p.last.slot()) <= p.last.clock() && p.clock.covers_except(t.known, p.last.slot());
  }
  static void take_in(Thread& t, const Published& from, Env& env) {
    t.known.join(from.clock, env);
    if (!from.last.never()) t.known.raise(from.last.slot(), from.last.clock(), env);
  }

  static void change_version(Thread& t, Env& env) {
    if (t.versions.own == Epoch::kMaxClock) [[unlikely]]
      return leave_slot(t, env);
    ++t.versions.own;
    t.versions.name = own_version(t);
  }
  [[gnu::noinline, gnu::cold]] static void leave_slot(Thread& t, Env& env) {
    t.known.raise(t.slot, t.now, env);
    if constexpr (kTimeless) {
      t.versions.received.raise(t.slot, t.versions.own, env);
      t.versions.own = 1;
    }
    t.slot = env.next_slot(t.slot, t.id);
    t.now = 1;
    if constexpr (kTimeless) t.versions.name = own_version(t);
  }

  static void forget_wait(Thread& t, Env& env) {
    t.woken_by.clear(env);
    if (t.waits_on == nullptr) return;
    Thread** link = &t.waits_on->waiters;
    while (*link != &t) link = &(*link)->next_waiter;
    *link = t.next_waiter;
    t.waits_on = nullptr;
  }
};

}  // namespace pf
