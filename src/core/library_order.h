// Happens-before where part of the program cannot be seen: calls into code without instrumentation (BarrierPairs, seed 004 §4) that share
// memory are taken to order whatever they could have ordered. Beside it runs the order of what was seen (TwoOrders, weak), so that
// a pair is known which only such a call may have ordered.
//
// Calls under way that have reached common memory, directly or through others, are one group, with one clock: any of them may have told
// any other, at any moment, what it knew. A group lasts until its last call is over; then its clock stays with the memory.
//
//   begin       what the memory was left with, and the caller's clock, go to the group; groups that meet become one
//   callback    begins with all that the group knows, and leaves it what it did
//   end         the thread knows what the group does
//   atomics     on such memory by instrumented code: tell the group and are told by it
//
// Guarantees: no pair is taken for a race that the complete program orders, if each call touches no memory for synchronization but what
// it reaches, and gives none away unseen (it is seen: malloc is intercepted). The paper's edges between pairs of calls do not suffice for that (predict/missing.h).
// The two orders tick together and keep to the same slots, so a mark of one epoch is of both.
//
// Caller serializes: groups = one caller at a time.
#pragma once
#include <utility>

#include "core/env.h"
#include "core/race.h"
#include "core/two_orders.h"

namespace pf {

template <class Env>
struct LibraryOrder : TwoOrders<Env> {
  using Base = TwoOrders<Env>;
  using typename Base::Full;
  using typename Base::Thread;
  using typename Base::Weak;
  using Epoch = typename Env::Epoch;
  using Lock = typename Base::template Both<typename Weak::Lock, typename Full::Lock>;
  using Base::forget;

  static Epoch epoch(const Thread& t) { return Full::epoch(t.full); }
  // By what was seen: all that a detector without this would look at is kept.
  static bool ordered(Epoch e, const Thread& t) { return Weak::ordered(e, t.weak); }
  [[gnu::always_inline]] static void meet(const Mark<Env>& m, const Thread& t, Env& env) {
    if (ordered(m.epoch, t)) [[likely]]
      return;
    env.race(m, Full::ordered(m.epoch, t.full) ? Verdict::Suspect : Verdict::Real);
  }

  // --- calls ---

  struct Group {
    typename Full::Published known;
    uint32_t under_way = 0;   // calls
    uint32_t references = 0;  // from calls, memory and groups that went into it
    Group* into = nullptr;    // it is part of another one
  };

  // A call's own group, until it reaches memory.
  static Group* new_group(Env& env) {
    auto* g = new (env.allocate(sizeof(Group))) Group{};
    g->under_way = g->references = 1;
    return g;
  }
  // Of memory that no call has reached yet: what is told there is for the first that does.
  static Group* new_memory(Env& env) {
    Group* g = new_group(env);
    g->under_way = 0;
    return g;
  }
  // The call reaches memory with that group; null: no call ever did.
  static void reach(Thread& t, Group*& call, Group*& memory, Env& env) {
    Group* mine = root(call);
    Group* theirs = memory == nullptr ? nullptr : root(memory);
    if (theirs == mine) return;
    if (theirs != nullptr && theirs->under_way != 0) return become_part(*mine, *theirs, env);
    if (theirs != nullptr) Full::learn(t.full, theirs->known, env);
    drop(memory, env);
    memory = mine;
    ++mine->references;
  }
  // What the thread knows is in the group. At the begin of a call, once it has reached its memory, and after a callback.
  static void tell(Thread& t, Group* group, Env& env) {
    Full::contribute(t.full, root(group)->known, env);
    tick(t, env);
  }
  static void be_told(Thread& t, Group* group, Env& env) { Full::learn(t.full, root(group)->known, env); }
  // An atomic in memory that is reached for the first time.
  static void be_told(Thread& t, const typename Base::Atomic& a, Env& env) {
    Full::learn(t.full, a.full.released, env);
  }
  static void end_call(Thread& t, Group*& call, Env& env) {
    be_told(t, call, env);
    tell(t, call, env);
    --root(call)->under_way;
    drop(call, env);
  }
  // The memory is gone.
  static void drop(Group*& link, Env& env) {
    for (Group* g = std::exchange(link, nullptr); g != nullptr;) {
      if (--g->references != 0) return;
      g->known.clear(env);
      Group* next = g->into;
      env.deallocate(g, sizeof(Group));
      g = next;
    }
  }

  // --- locks, to both orders; and whatever ticks keeps their slots the same ---

  static void acquire(Thread& t, Lock& l, Env& env) {
    Weak::acquire(t.weak, l.weak, env);
    Full::acquire(t.full, l.full, env);
  }
  static void release(Thread& t, Lock& l, Env& env) {
    Weak::release(t.weak, l.weak, env);
    Full::release(t.full, l.full, env);
    align(t);
  }
  static void read_acquire(Thread& t, Lock& l, Env& env) {
    Weak::read_acquire(t.weak, l.weak, env);
    Full::read_acquire(t.full, l.full, env);
  }
  static void read_release(Thread& t, Lock& l, Env& env) {
    Weak::read_release(t.weak, l.weak, env);
    Full::read_release(t.full, l.full, env);
    align(t);
  }
  static void forget(Lock& l, Env& env) {
    Weak::forget(l.weak, env);
    Full::forget(l.full, env);
  }
  static void fork(Thread& t, Thread& child, Env& env) {
    Base::fork(t, child, env);
    align(t);
  }
  static void notify(Thread& t, typename Base::Condition& c, Env& env) {
    Base::notify(t, c, env);
    align(t);
  }
  static void barrier_enter(Thread& t, typename Base::Barrier& b, Env& env) {
    Base::barrier_enter(t, b, env);
    align(t);
  }
  static void sem_post(Thread& t, typename Base::Semaphore& s, Env& env) {
    Base::sem_post(t, s, env);
    align(t);
  }
  static void atomic_after(Thread& t, typename Base::Atomic& a, Op op, MemoryOrder order, Env& env) {
    Base::atomic_after(t, a, op, order, env);
    align(t);
  }
  static void fence(Thread& t, MemoryOrder order, Env& env) {
    Base::fence(t, order, env);
    align(t);
  }

 private:
  static Group* root(Group* g) {
    while (g->into != nullptr) g = g->into;
    return g;
  }
  static void become_part(Group& g, Group& of, Env& env) {
    of.known.join(g.known, env);
    g.known.clear(env);
    of.under_way += std::exchange(g.under_way, 0);
    g.into = &of;
    ++of.references;
  }
  static void tick(Thread& t, Env& env) {
    Weak::tick(t.weak, env);
    Full::tick(t.full, env);
    align(t);
  }
  // A clock that ran out left its slot, in both orders at once.
  static void align(Thread& t) { t.weak.slot = t.full.slot; }
};

// Whether a detector orders by such calls.
template <class D>
concept OrdersLibraries = requires { &D::end_call; };

}  // namespace pf
