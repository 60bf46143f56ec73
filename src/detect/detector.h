// The contract of a detector: plain state and pure transition functions over it. Each host static_asserts it.
//
// A host brings every event to the functions below. It serializes: Thread = its owner; Lock, Condition, Barrier,
// Semaphore, Atomic and Var = one caller at a time. An access that covers several Vars is one call for each.
#pragma once
#include "core/engine_info.h"
#include "core/env.h"
#include "core/event.h"

namespace pf {

template <class D, class Env>
concept Detector = Environment<Env> && requires(typename D::Thread& t, const typename D::Thread& other,
                                                typename D::Lock& l, typename D::Condition& c, typename D::Barrier& b,
                                                typename D::Semaphore& s, typename D::Atomic& a, typename D::Var& x,
                                                const typename Env::Access& access, MemoryOrder order, Env& env) {
  { D::kInfo } -> std::convertible_to<const EngineInfo&>;
  D::start(t, ThreadId{}, Slot{});
  // What is left of a dead thread, for a later one that takes its slot.
  { D::bury(other) } -> std::same_as<typename D::Grave>;
  { D::may_succeed(D::bury(other), other) } -> std::same_as<bool>;
  D::succeed(t, ThreadId{}, D::bury(other));
  D::fork(t, t, env), D::join(t, other, env), D::destroy(t, env);
  { D::epoch(other) } -> std::same_as<typename Env::Epoch>;
  D::acquire(t, l, env), D::release(t, l, env), D::read_acquire(t, l, env), D::read_release(t, l, env);
  D::wait(t, c, env), D::notify(t, c, env), D::wake(t, env);
  D::barrier_enter(t, b, env), D::barrier_leave(t, env);
  D::sem_post(t, s, env), D::sem_wait(t, s, env);
  D::atomic_before(t, a, Op::AtomicRmw, order, env), D::atomic_after(t, a, Op::AtomicRmw, order, env);
  D::fence(t, order, env);
  D::forget(l, env), D::forget(s, env), D::forget(a, env);  // their memory ends
  // The accesses. A free is a write, an atomic read-modify-write an atomic write.
  D::read(t, x, access, env), D::write(t, x, access, env);
  D::atomic_read(t, x, access, env), D::atomic_write(t, x, access, env);
  // A variable is torn in two when an access covers a part of it; cleared when its memory ends.
  { D::clone(x, env) } -> std::same_as<typename D::Var>;
  D::clear(x, env);
};

// A detector that also orders a read after the write it sees. Once every Var of an access was checked, its reads call
// reads_from for each Var; then its writes call publish for each Var and published once. An alloc counts as a write.
template <class D, class Env>
concept OrdersReadsAfterWrites = requires(typename D::Thread& t, typename D::Var& x, Env& env) {
  D::reads_from(t, x, env), D::publish(t, x, env), D::published(t, env);
};

// A detector that sees from one epoch that a plain access adds nothing. Hosts ask before they call its rule for it.
template <class D, class Env>
concept HasSameEpoch = requires(const typename D::Thread& t, const typename D::Var& x, Env& env) {
  { D::same_epoch(t, x, Op::Read, env) } -> std::same_as<bool>;
};

// A detector whose rules say (env.settle) when a variable is settled: the same kind of plain access, read or write, by the same thread in
// the same period adds nothing more, wherever it is made and whatever others do in between; once settled for writes, nor does
// a read. A period is over when the thread ticks. Hosts need not bring such accesses to their rule.
template <class D, class Env>
concept Settles = D::kSettles && requires(const typename D::Thread& t) {
  { D::period(t) } -> std::same_as<typename Env::Epoch>;
};

// A detector that tells whether two variables are alike in all that its rules will ever ask. Hosts may keep them as one.
template <class D>
concept TellsSame = requires(const typename D::Var& x) {
  { D::same(x, x) } -> std::same_as<bool>;
};

}  // namespace pf
