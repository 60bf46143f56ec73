// Synchronization that a detector calls idle may be left out: nobody can tell. The online host relies on it (runtime/objects.h, Glance).
#include <gtest/gtest.h>

#include "detect/fasttrack.h"
#include "detect/pacer.h"
#include "offline/host.h"
#include "property/random_traces.h"
#include "property/run_engine.h"
#include "property/shrink.h"
#include "support/text_trace.h"

namespace pf {
namespace {

// D without what is idle.
template <class D, class Env>
struct Lazy : D {
  using typename D::Atomic;
  using typename D::Lock;
  using typename D::Thread;

  static void acquire(Thread& t, const Lock& l, Env& env) {
    if (!leave_out(D::acquire_is_idle(t, l))) D::acquire(t, l, env);
  }
  static void read_acquire(Thread& t, const Lock& l, Env& env) {
    if (!leave_out(D::read_acquire_is_idle(t, l))) D::read_acquire(t, l, env);
  }
  static void release(Thread& t, Lock& l, Env& env) {
    if (!leave_out(D::release_is_idle(t, l, env))) D::release(t, l, env);
  }
  static void read_release(Thread& t, Lock& l, Env& env) {
    if (!leave_out(D::read_release_is_idle(t, l, env))) D::read_release(t, l, env);
  }
  // Nothing comes between the halves of an operation.
  static void atomic_before(Thread& t, const Atomic& a, Op op, MemoryOrder order, Env& env) {
    atomic_left_out = leave_out(D::atomic_is_idle(t, a, op, order, env));
    by_op[static_cast<unsigned>(op)] += atomic_left_out ? 1 : 0;
    if (!atomic_left_out) D::atomic_before(t, a, op, order, env);
  }
  static void atomic_after(Thread& t, Atomic& a, Op op, MemoryOrder order, Env& env) {
    if (!atomic_left_out) D::atomic_after(t, a, op, order, env);
  }

  static inline uint64_t left_out = 0, by_op[256] = {};

 private:
  static bool leave_out(bool idle) {
    left_out += idle ? 1 : 0;
    return idle;
  }
  static inline bool atomic_left_out = false;
};
template <class Env>
using LazyFastTrack = Lazy<FastTrack<Env>, Env>;
template <class Env>
using LazyPacer = Lazy<Pacer<Env>, Env>;

// PACER without any order before the first period: what is sampled later is of a later time.
template <class Env>
struct Unstarted : Pacer<Env> {
  using Base = Pacer<Env>;
  using typename Base::Atomic;
  using typename Base::Lock;
  using typename Base::Thread;

  static void begin_sampling(Thread& t, Env& env) {
    has_begun = true;
    Base::begin_sampling(t, env);
  }
  static void acquire(Thread& t, const Lock& l, Env& env) {
    if (matters(env)) Base::acquire(t, l, env);
  }
  static void read_acquire(Thread& t, const Lock& l, Env& env) {
    if (matters(env)) Base::read_acquire(t, l, env);
  }
  static void atomic_before(Thread& t, const Atomic& a, Op op, MemoryOrder order, Env& env) {
    if (matters(env)) Base::atomic_before(t, a, op, order, env);
  }

  static inline bool has_begun = false;
  static inline uint64_t left_out = 0;

 private:
  static bool matters(const Env& env) {
    has_begun |= env.samples();
    left_out += has_begun ? 0 : 1;
    return has_begun;
  }
};

template <template <class> class D>
auto pairs(std::span<const Event> trace) {
  OfflineHost<D> host;
  return run_engine(host, trace).pairs;
}

template <template <class> class D, template <class> class Without, class Make>
void test(Make make_trace) {
  for (uint64_t seed = first_seed(); seed < first_seed() + traces(); ++seed) {
    const auto fails = [](std::span<const Event> t) { return pairs<D>(t) != pairs<Without>(t); };
    const Trace trace = make_trace(seed);
    if (fails(trace)) FAIL() << "seed " << seed << ", shrunk to\n" << show(shrink(trace, fails));
  }
  EXPECT_GT(Without<OfflineEnv>::left_out, traces()) << "nothing was idle, so nothing was tested";
  for (const Op op : {Op::AtomicLoad, Op::AtomicStore, Op::AtomicRmw})
    EXPECT_GT(Without<OfflineEnv>::by_op[static_cast<unsigned>(op)], traces() / 20) << "hardly any was idle";
}

TEST(Idle, MakesNoDifferenceToFastTrack) {
  test<FastTrack, LazyFastTrack>([](uint64_t seed) { return generate(seed); });
}
TEST(Idle, WhatIsAcquiredBeforeTheFirstPeriodMakesNoDifference) {
  const auto differs = [](std::span<const Event> t) {
    Unstarted<OfflineEnv>::has_begun = false;
    return pairs<Pacer>(t) != pairs<Unstarted>(t);
  };
  for (uint64_t seed = first_seed(); seed < first_seed() + traces(); ++seed) {
    const Trace trace = with_periods(generate(seed), seed);
    if (differs(trace)) FAIL() << "seed " << seed << ", shrunk to\n" << show(shrink(trace, differs));
  }
  EXPECT_GT(Unstarted<OfflineEnv>::left_out, traces() / 4) << "nothing was left out, so nothing was tested";
}
TEST(Idle, MakesNoDifferenceToPacer) {
  test<Pacer, LazyPacer>([](uint64_t seed) { return with_periods(generate(seed), seed); });
}

}  // namespace
}  // namespace pf
