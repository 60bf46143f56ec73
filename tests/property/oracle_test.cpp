// The oracle against hand-written traces, one per rule of docs/happens-before.md and direction, and against what must
// hold of every trace; the checker, the generator and the shrinker, on which all other property tests stand.
#include "property/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/object.h"
#include "property/shrink.h"
#include "trace/check.h"
#include "trace/generator.h"

namespace pf {
namespace {

using oracle::Order;
using oracle::Race;
using oracle::Relation;
using enum MemoryOrder;

// ---- Events by hand: thread first, then the number of the object.

Event event(unsigned thread, Op op, uint64_t target) {
  Event e;
  e.thread = ThreadId{thread};
  e.op = op;
  e.target = target;
  return e;
}
Event access(unsigned t, Op op, unsigned v, MemoryOrder order = SeqCst) {
  Event e = event(t, op, abstract_variable(v));
  e.size = kVariableSize;
  e.order = order;
  return e;
}
Event on(unsigned t, Op op, unsigned object) { return event(t, op, abstract_object(object)); }

Event r(unsigned t, unsigned v) { return access(t, Op::Read, v); }
Event w(unsigned t, unsigned v) { return access(t, Op::Write, v); }
Event load(unsigned t, unsigned v, MemoryOrder o) { return access(t, Op::AtomicLoad, v, o); }
Event store(unsigned t, unsigned v, MemoryOrder o) { return access(t, Op::AtomicStore, v, o); }
Event rmw(unsigned t, unsigned v, MemoryOrder o) { return access(t, Op::AtomicRmw, v, o); }
Event acq(unsigned t, unsigned l) { return on(t, Op::Acquire, l); }
Event rel(unsigned t, unsigned l) { return on(t, Op::Release, l); }
Event racq(unsigned t, unsigned l) { return on(t, Op::ReadAcquire, l); }
Event rrel(unsigned t, unsigned l) { return on(t, Op::ReadRelease, l); }
Event fork(unsigned t, unsigned u) { return event(t, Op::Fork, u); }
Event join(unsigned t, unsigned u) { return event(t, Op::Join, u); }
Event begin(unsigned t) { return event(t, Op::Begin, 0); }
Event end(unsigned t) { return event(t, Op::End, 0); }
Event wait(unsigned t, unsigned c) { return on(t, Op::Wait, c); }
Event wake(unsigned t, unsigned c) { return on(t, Op::Wake, c); }
Event notify(unsigned t, unsigned c) { return on(t, Op::Notify, c); }
Event enter(unsigned t, unsigned b) { return on(t, Op::BarrierEnter, b); }
Event leave(unsigned t, unsigned b) { return on(t, Op::BarrierLeave, b); }
Event post(unsigned t, unsigned s) { return on(t, Op::SemPost, s); }
Event take(unsigned t, unsigned s) { return on(t, Op::SemWait, s); }
Event miss(unsigned t) { return on(t, Op::MissingBegin, 0); }
Event back(unsigned t) { return event(t, Op::MissingEnd, 0); }
Event fence(unsigned t, MemoryOrder o) {
  Event e = event(t, Op::Fence, 0);
  e.order = o;
  return e;
}
Event bytes(unsigned t, Op op, uint64_t address, uint32_t size) {
  Event e = event(t, op, address);
  if (has_extent(op))
    e.value = size;
  else
    e.size = size;
  return e;
}
Event alloc(unsigned t, uint64_t address, uint32_t size) { return bytes(t, Op::Alloc, address, size); }
Event dealloc(unsigned t, uint64_t address, uint32_t size) { return bytes(t, Op::Free, address, size); }

// Does the relation order the first event of the trace before the last one?
bool orders(const Trace& trace, Relation relation = Relation::Hb) {
  EXPECT_TRUE(is_well_formed(trace)) << show(trace);
  return Order(trace, relation).before(0, trace.size() - 1);
}

std::vector<Race> races_of(const Trace& trace, Relation relation = Relation::Hb) {
  EXPECT_TRUE(is_well_formed(trace)) << show(trace);
  return oracle::races(trace, relation);
}

std::vector<Race> predictable(const Trace& trace) {
  EXPECT_TRUE(is_well_formed(trace)) << show(trace);
  const auto races = oracle::predictable_races(trace, 100'000);
  EXPECT_TRUE(races.has_value()) << show(trace);
  return races.value_or(std::vector<Race>{});
}

using Races = std::vector<Race>;

// ---- Edges

TEST(HappensBefore, ProgramOrder) {
  EXPECT_TRUE(orders({w(0, 1), r(0, 2)}));
  EXPECT_FALSE(orders({w(0, 1), r(1, 1)}));
}

TEST(HappensBefore, MutexFromReleaseToEveryLaterAcquire) {
  EXPECT_TRUE(orders({w(0, 1), acq(0, 0), rel(0, 0), acq(1, 0), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), acq(0, 0), rel(0, 0), acq(2, 0), rel(2, 0), acq(1, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), acq(0, 0), rel(0, 0), acq(1, 5), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), acq(1, 0), rel(1, 0), acq(0, 0), rel(0, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), acq(0, 0), w(0, 2), r(1, 1)}));
}

TEST(HappensBefore, MutexIsNoWeakEdge) {
  EXPECT_FALSE(orders({w(0, 1), acq(0, 0), rel(0, 0), acq(1, 0), r(1, 1)}, Relation::WeakHb));
  EXPECT_FALSE(orders({w(0, 1), racq(0, 0), rrel(0, 0), acq(1, 0), r(1, 1)}, Relation::WeakHb));
  EXPECT_TRUE(orders({w(0, 1), fork(0, 1), r(1, 1)}, Relation::WeakHb));
}

TEST(HappensBefore, InnerReleaseOfRecursiveMutex) {
  const Trace trace{acq(0, 0), acq(0, 0), w(0, 1), rel(0, 0), w(0, 2), rel(0, 0), acq(1, 0), r(1, 2)};
  EXPECT_TRUE(Order(trace, Relation::Hb).before(4, 7));
}

TEST(HappensBefore, Rwlock) {
  EXPECT_TRUE(orders({w(0, 1), acq(0, 0), rel(0, 0), racq(1, 0), r(1, 1)}));
  EXPECT_TRUE(orders({r(0, 1), racq(0, 0), rrel(0, 0), acq(1, 0), w(1, 1)}));
  EXPECT_FALSE(orders({r(0, 1), racq(0, 0), rrel(0, 0), racq(1, 0), w(1, 1)}));
}

TEST(HappensBefore, ForkAndJoin) {
  EXPECT_TRUE(orders({w(0, 1), fork(0, 1), begin(1), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), fork(0, 2), begin(2), r(1, 1)}));
  EXPECT_FALSE(Order(Trace{fork(0, 1), w(0, 1), r(1, 1)}, Relation::Hb).before(1, 2));
  EXPECT_TRUE(orders({w(1, 1), end(1), join(0, 1), r(0, 1)}));
  EXPECT_TRUE(orders({w(1, 1), join(0, 1), r(0, 1)}));
  EXPECT_FALSE(orders({w(1, 1), join(0, 2), r(0, 1)}));
  EXPECT_TRUE(orders({w(0, 1), fork(0, 2), join(1, 2), r(1, 1)}));
}

TEST(HappensBefore, NotifyReachesThreadsThatWait) {
  EXPECT_TRUE(orders({w(0, 1), wait(1, 0), notify(0, 0), wake(1, 0), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), wait(2, 0), wait(1, 0), notify(0, 0), wake(2, 0), wake(1, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), notify(0, 0), wait(1, 0), wake(1, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), wait(1, 0), notify(0, 7), wake(1, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), wait(1, 0), wake(1, 0), notify(0, 0), wait(1, 0), wake(1, 0), r(1, 1)}));
}

TEST(HappensBefore, BarrierRound) {
  EXPECT_TRUE(orders({w(0, 1), enter(0, 0), enter(1, 0), leave(1, 0), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), enter(1, 0), enter(0, 0), leave(1, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), enter(0, 0), enter(1, 3), leave(1, 3), r(1, 1)}));
}

TEST(HappensBefore, FirstLeaveClosesTheBarrierRound) {
  EXPECT_FALSE(orders({w(0, 1), enter(1, 0), enter(2, 0), leave(2, 0), enter(0, 0), leave(1, 0), r(1, 1)}));
  // Late leaves of the first round do not close the second.
  EXPECT_TRUE(orders(
      {w(0, 1), enter(1, 0), enter(2, 0), leave(2, 0), enter(2, 0), leave(1, 0), enter(0, 0), leave(2, 0), r(2, 1)}));
}

TEST(HappensBefore, SemaphoreFromPostToEveryLaterTake) {
  EXPECT_TRUE(orders({w(0, 1), post(0, 0), take(1, 0), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), post(0, 0), take(2, 0), take(1, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), take(1, 0), post(0, 0), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), post(0, 0), take(1, 9), r(1, 1)}));
}

// ---- Atomics and fences

TEST(Atomics, ReleaseToAcquire) {
  for (const MemoryOrder release : {Release, AcqRel, SeqCst})
    for (const MemoryOrder acquire : {Acquire, Consume, SeqCst})
      EXPECT_TRUE(orders({w(0, 1), store(0, 9, release), load(1, 9, acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), load(1, 9, Relaxed), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), load(1, 8, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), load(1, 9, Acquire), store(0, 9, Release), r(1, 1)}));
}

TEST(Atomics, LoadReadsTheLastStoreOnly) {
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), store(2, 9, Release), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), store(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
}

TEST(Atomics, ReleaseSequence) {
  EXPECT_TRUE(orders({w(0, 1), store(0, 9, Release), rmw(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_TRUE(
      orders({w(0, 1), store(0, 9, Release), rmw(2, 9, Release), rmw(3, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), rmw(0, 9, AcqRel), rmw(1, 9, AcqRel), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), rmw(0, 9, Acquire), rmw(1, 9, AcqRel), r(1, 1)}));
  // A relaxed rmw continues the sequence but takes nothing for its own thread, nor gives anything of it.
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), rmw(1, 9, Relaxed), r(1, 1)}));
  EXPECT_FALSE(orders({w(2, 1), store(0, 9, Release), rmw(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
}

TEST(Atomics, StoreEndsTheReleaseSequence) {
  EXPECT_FALSE(
      orders({w(0, 1), store(0, 9, Release), rmw(2, 9, Relaxed), store(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), store(0, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(
      orders({w(0, 1), store(0, 9, Release), store(2, 9, Relaxed), rmw(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
}

TEST(Atomics, PlainWriteTakesNoPart) {
  EXPECT_TRUE(orders({w(0, 1), store(0, 9, Release), w(2, 9), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), w(0, 9), load(1, 9, Acquire), r(1, 1)}));
}

TEST(Atomics, EndWithTheirBlock) {
  const uint64_t a = abstract_variable(9);
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), dealloc(0, a, 8), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), alloc(0, a, 8), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(
      orders({w(0, 1), store(0, 9, Release), dealloc(0, a, 8), rmw(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), store(0, 9, Release), dealloc(0, a + 8, 8), load(1, 9, Acquire), r(1, 1)}));
}

TEST(Fences, ReleaseSide) {
  for (const MemoryOrder release : {Release, AcqRel, SeqCst})
    EXPECT_TRUE(orders({w(0, 1), fence(0, release), store(0, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), fence(0, Acquire), store(0, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Relaxed), fence(0, Release), load(1, 9, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), fence(2, Release), store(0, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
  // What stands between the fence and a relaxed store is not released; a release store releases it.
  const Trace between{fence(0, Release), w(0, 1), store(0, 9, Relaxed), load(1, 9, Acquire), r(1, 1)};
  EXPECT_FALSE(Order(between, Relation::Hb).before(1, 4));
  EXPECT_TRUE(
      orders({w(0, 1), fence(0, Release), rmw(0, 9, Relaxed), rmw(2, 9, Relaxed), load(1, 9, Acquire), r(1, 1)}));
}

TEST(Fences, AcquireSide) {
  for (const MemoryOrder acquire : {Acquire, Consume, AcqRel, SeqCst})
    EXPECT_TRUE(orders({w(0, 1), store(0, 9, Release), load(1, 9, Relaxed), fence(1, acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), load(1, 9, Relaxed), fence(1, Release), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), fence(1, Acquire), load(1, 9, Relaxed), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Relaxed), load(1, 9, Relaxed), fence(1, Acquire), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), store(0, 9, Release), load(1, 9, Relaxed), fence(2, Acquire), r(1, 1)}));
}

TEST(Fences, BothSides) {
  EXPECT_TRUE(
      orders({w(0, 1), fence(0, Release), store(0, 9, Relaxed), load(1, 9, Relaxed), fence(1, Acquire), r(1, 1)}));
  EXPECT_TRUE(orders({w(0, 1), fence(0, SeqCst), store(0, 9, Relaxed), rmw(1, 9, Relaxed), load(1, 8, Relaxed),
                      fence(1, SeqCst), r(1, 1)}));
  EXPECT_FALSE(orders({w(0, 1), fence(0, SeqCst), fence(1, SeqCst), r(1, 1)}));
}

// ---- Conflicts

TEST(Conflicts, KindsOfAccess) {
  EXPECT_EQ(races_of({w(0, 1), w(1, 1)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({r(0, 1), w(1, 1)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({w(0, 1), r(1, 1)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({r(0, 1), r(1, 1)}), Races{});
  EXPECT_EQ(races_of({w(0, 1), w(0, 1)}), Races{});
  EXPECT_EQ(races_of({w(0, 1), w(1, 2)}), Races{});
  EXPECT_EQ(races_of({store(0, 1, Relaxed), rmw(1, 1, Relaxed), load(2, 1, Relaxed)}), Races{});
  EXPECT_EQ(races_of({store(0, 1, SeqCst), r(1, 1)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({w(0, 1), load(1, 1, SeqCst)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({r(0, 1), load(1, 1, SeqCst)}), Races{});
}

TEST(Conflicts, AllPairsAreListed) {
  EXPECT_EQ(races_of({w(0, 1), w(1, 1), r(2, 1), r(0, 1)}), (Races{{0, 1}, {0, 2}, {1, 2}, {1, 3}}));
}

TEST(Conflicts, ShareAByte) {
  EXPECT_EQ(races_of({bytes(0, Op::Write, 100, 4), bytes(1, Op::Read, 103, 1)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({bytes(0, Op::Write, 100, 4), bytes(1, Op::Write, 97, 4)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({bytes(0, Op::Write, 100, 4), bytes(1, Op::Write, 104, 4)}), Races{});
  EXPECT_EQ(races_of({bytes(0, Op::Write, 100, 4), bytes(1, Op::Write, 96, 4)}), Races{});
}

TEST(Conflicts, FreeWritesTheBlock) {
  EXPECT_EQ(races_of({bytes(0, Op::Read, 108, 4), dealloc(1, 100, 16)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({dealloc(1, 100, 16), bytes(0, Op::Read, 108, 4)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({dealloc(1, 100, 16), bytes(0, Op::AtomicLoad, 108, 4)}), (Races{{0, 1}}));
  EXPECT_EQ(races_of({dealloc(1, 100, 16), bytes(0, Op::Read, 116, 4)}), Races{});
}

TEST(Conflicts, AllocBeginsAnew) {
  EXPECT_EQ(races_of({bytes(0, Op::Write, 100, 4), alloc(1, 96, 16), bytes(1, Op::Write, 100, 4)}), Races{});
  EXPECT_EQ(races_of({dealloc(0, 96, 16), alloc(1, 96, 16), bytes(1, Op::Write, 100, 4)}), Races{});
  // Only the bytes of the block begin anew.
  EXPECT_EQ(races_of({bytes(0, Op::Write, 100, 4), alloc(1, 102, 16), bytes(1, Op::Write, 100, 4)}), (Races{{0, 2}}));
  EXPECT_EQ(races_of({alloc(0, 96, 16), bytes(1, Op::Write, 100, 4)}), Races{});
}

TEST(Conflicts, FreeEndsTheHistory) {
  const Event write = bytes(0, Op::Write, 100, 4), read = bytes(2, Op::Read, 100, 4);
  EXPECT_EQ(races_of({write, dealloc(1, 96, 16), read}), (Races{{0, 1}, {1, 2}}));
  EXPECT_EQ(races_of({write, dealloc(1, 102, 16), read}), (Races{{0, 1}, {0, 2}, {1, 2}}));
}

// ---- Schedulable happens-before

TEST(Shb, WriteOrdersItsReader) {
  const Trace trace{w(0, 2), w(0, 1), r(1, 1), r(1, 2)};
  EXPECT_EQ(races_of(trace, Relation::Hb), (Races{{1, 2}, {0, 3}}));
  EXPECT_EQ(races_of(trace, Relation::Shb), (Races{{1, 2}}));
}

TEST(Shb, OnlyTheLastWriteOfAByte) {
  EXPECT_FALSE(orders({w(0, 1), w(2, 1), r(1, 1)}, Relation::Shb));
  EXPECT_TRUE(
      orders({bytes(0, Op::Write, 100, 8), bytes(2, Op::Write, 104, 4), bytes(1, Op::Read, 100, 8)}, Relation::Shb));
  EXPECT_FALSE(orders({r(0, 1), w(1, 1)}, Relation::Shb));
}

TEST(Shb, EveryKindOfWriteAndRead) {
  EXPECT_TRUE(orders({store(0, 1, Relaxed), load(1, 1, Relaxed)}, Relation::Shb));
  EXPECT_TRUE(orders({rmw(0, 1, Relaxed), rmw(1, 1, Relaxed)}, Relation::Shb));
  EXPECT_TRUE(orders({w(0, 1), load(1, 1, Relaxed)}, Relation::Shb));
  EXPECT_TRUE(orders({dealloc(0, 100, 8), bytes(1, Op::Read, 100, 8)}, Relation::Shb));
  EXPECT_FALSE(orders({store(0, 1, Relaxed), store(1, 1, Relaxed)}, Relation::Shb));
}

TEST(Shb, AllocCutsTheEdge) {
  EXPECT_FALSE(orders({bytes(0, Op::Write, 100, 8), alloc(2, 100, 8), bytes(1, Op::Read, 100, 8)}, Relation::Shb));
}

TEST(Shb, OwnAcquireCountsButOwnValueDoesNot) {
  EXPECT_EQ(races_of({w(0, 1), store(0, 1, Release), load(1, 1, Acquire)}, Relation::Shb), Races{});
  EXPECT_EQ(races_of({w(0, 1), store(0, 1, Relaxed), load(1, 1, Relaxed)}, Relation::Shb), (Races{{0, 2}}));
}

// ---- Locksets

TEST(Locks, HeldWithTheirMode) {
  const Trace trace{acq(0, 2), racq(0, 1), w(0, 1), w(1, 1), rel(0, 2), w(0, 1), acq(0, 1), w(0, 1)};
  const auto held = oracle::locks_held(trace);
  using Locks = std::vector<oracle::Held>;
  EXPECT_EQ(held[0], Locks{});
  EXPECT_EQ(held[2], (Locks{{abstract_object(1), false}, {abstract_object(2), true}}));
  EXPECT_EQ(held[3], Locks{});
  EXPECT_EQ(held[5], (Locks{{abstract_object(1), false}}));
  EXPECT_EQ(held[7], (Locks{{abstract_object(1), true}}));
}

TEST(Locks, RecursiveMutexIsHeldToTheLastRelease) {
  const auto held = oracle::locks_held(Trace{acq(0, 0), acq(0, 0), rel(0, 0), w(0, 1), rel(0, 0), w(0, 1)});
  EXPECT_EQ(held[3].size(), 1U);
  EXPECT_EQ(held[5].size(), 0U);
}

// ---- Prediction

TEST(Prediction, SectionsMaySwap) {
  EXPECT_EQ(predictable({w(0, 1), acq(0, 0), rel(0, 0), acq(1, 0), rel(1, 0), w(1, 1)}), (Races{{0, 5}}));
  EXPECT_EQ(predictable({acq(0, 0), w(0, 1), rel(0, 0), acq(1, 0), w(1, 1), rel(1, 0)}), Races{});
  EXPECT_EQ(predictable({racq(0, 0), w(0, 1), rrel(0, 0), racq(1, 0), w(1, 1), rrel(1, 0)}), (Races{{1, 4}}));
  EXPECT_EQ(predictable({racq(0, 0), r(0, 1), rrel(0, 0), acq(1, 0), w(1, 1), rel(1, 0)}), Races{});
}

TEST(Prediction, ReadsKeepTheirValues) {
  EXPECT_EQ(predictable({w(0, 2), w(0, 1), r(1, 1), w(1, 2)}), (Races{{1, 2}}));
  EXPECT_EQ(predictable({w(0, 2), store(0, 1, Relaxed), load(1, 1, Relaxed), w(1, 2)}), Races{});
  EXPECT_EQ(predictable({w(0, 2), w(0, 1), w(1, 1), w(1, 2)}), (Races{{1, 2}, {0, 3}}));
  // A byte of another write is another value.
  EXPECT_EQ(predictable({w(0, 2), bytes(0, Op::AtomicStore, 100, 1), bytes(1, Op::AtomicLoad, 97, 4), w(1, 2)}),
            Races{});
}

TEST(Prediction, ForkAndJoin) {
  EXPECT_EQ(predictable({w(0, 1), fork(0, 1), w(1, 1)}), Races{});
  EXPECT_EQ(predictable({fork(0, 1), w(0, 1), w(1, 1)}), (Races{{1, 2}}));
  EXPECT_EQ(predictable({w(1, 1), join(0, 1), w(0, 1)}), Races{});
  EXPECT_EQ(predictable({fork(0, 1), w(0, 1), join(2, 1), w(2, 1)}), (Races{{1, 3}}));
  EXPECT_EQ(predictable({w(0, 1), fork(0, 1), join(2, 1), w(2, 1)}), Races{});
}

TEST(Prediction, NotifySinceTheWait) {
  EXPECT_EQ(predictable({w(0, 1), wait(1, 0), notify(0, 0), wake(1, 0), w(1, 1)}), Races{});
  EXPECT_EQ(predictable({w(0, 1), wait(1, 0), wake(1, 0), w(1, 1)}), (Races{{0, 3}}));
  // Any notify will do.
  EXPECT_EQ(predictable({w(0, 1), wait(1, 0), notify(0, 0), notify(2, 0), wake(1, 0), w(1, 1)}), (Races{{0, 5}}));
  // But each wait needs its own.
  EXPECT_EQ(predictable({wait(1, 0), notify(2, 0), wake(1, 0), wait(1, 0), w(0, 1), notify(0, 0), wake(1, 0), w(1, 1)}),
            Races{});
}

TEST(Prediction, BarrierAndSemaphore) {
  EXPECT_EQ(predictable({w(0, 1), enter(0, 0), enter(1, 0), leave(1, 0), w(1, 1), leave(0, 0)}), Races{});
  EXPECT_EQ(predictable({w(0, 1), post(0, 0), take(1, 0), w(1, 1)}), Races{});
  EXPECT_EQ(predictable({w(0, 1), post(0, 0), post(2, 0), take(1, 0), w(1, 1)}), (Races{{0, 4}}));
  EXPECT_EQ(predictable({w(0, 1), take(1, 0), post(0, 0), w(1, 1)}), (Races{{0, 3}}));
}

TEST(Prediction, MemoryKeepsItsHistory) {
  const Event first = bytes(0, Op::Write, 100, 8), second = bytes(1, Op::Write, 100, 8);
  EXPECT_EQ(predictable({first, alloc(1, 100, 8), second}), Races{});
  EXPECT_EQ(predictable({first, dealloc(0, 100, 8), second}), (Races{{1, 2}}));
  // T0 could take what T1 posts, before T2 posts; but then its access would follow the alloc.
  EXPECT_EQ(predictable({w(2, 1), post(2, 0), take(0, 0), first, w(0, 1), alloc(1, 100, 8), post(1, 0)}), Races{});
  EXPECT_EQ(predictable({w(2, 1), post(2, 0), take(0, 0), first, w(0, 1), alloc(1, 200, 8), post(1, 0)}),
            (Races{{0, 4}}));
  // Only the order of those that run is kept: an allocator that is called earlier gives another block.
  EXPECT_EQ(predictable({w(0, 1), dealloc(0, 100, 8), alloc(1, 100, 8), w(1, 1)}), (Races{{0, 3}}));
}

TEST(Prediction, GivesUpBeyondTheLimit) {
  const Trace trace{w(0, 1), w(0, 2), w(1, 3), w(1, 4)};
  EXPECT_FALSE(oracle::predictable_races(trace, 3).has_value());
  EXPECT_TRUE(oracle::predictable_races(trace, 9).has_value());
}

// ---- The checker

std::string first_fault(const Trace& trace) {
  Checker checker;
  for (const Event& e : trace)
    if (const auto fault = checker.next(e)) return *fault;
  return "";
}

TEST(Check, Locks) {
  EXPECT_EQ(first_fault({acq(2, 3), rel(1, 3)}), "T1 releases L3, which T2 holds");
  EXPECT_EQ(first_fault({rel(1, 3)}), "T1 releases L3, which no thread holds");
  EXPECT_EQ(first_fault({acq(2, 3), acq(1, 3)}), "T1 acquires L3, which T2 holds");
  EXPECT_EQ(first_fault({racq(2, 3), acq(1, 3)}), "T1 acquires L3, which T2 holds for reading");
  EXPECT_EQ(first_fault({acq(2, 3), racq(1, 3)}), "T1 acquires L3 for reading, while T2 holds it for writing");
  EXPECT_EQ(first_fault({racq(2, 3), rel(2, 3)}), "T2 releases L3, which is held only for reading");
  EXPECT_EQ(first_fault({racq(2, 3), rrel(1, 3)}), "T1 releases L3, which it does not hold for reading");
  EXPECT_EQ(first_fault({acq(1, 3), acq(1, 3), rel(1, 3), rel(1, 3), acq(2, 3)}), "");
  EXPECT_EQ(first_fault({acq(1, 3), acq(1, 3), rel(1, 3), acq(2, 3)}), "T2 acquires L3, which T1 holds");
  EXPECT_EQ(first_fault({racq(1, 3), racq(2, 3), racq(1, 3), rrel(1, 3), rrel(2, 3), rrel(1, 3), acq(2, 3)}), "");
}

TEST(Check, Threads) {
  EXPECT_EQ(first_fault({fork(1, 1)}), "T1 forks itself");
  EXPECT_EQ(first_fault({join(1, 1)}), "T1 joins itself");
  EXPECT_EQ(first_fault({w(2, 0), fork(1, 2)}), "T2 is forked here but acted before");
  EXPECT_EQ(first_fault({end(2), fork(1, 2)}), "T2 is forked here but acted before");
  EXPECT_EQ(first_fault({fork(1, 2), fork(0, 2)}), "T2 is forked a second time");
  EXPECT_EQ(first_fault({fork(1, 2), w(2, 0), begin(2)}), "T2 begins here but acted before");
  EXPECT_EQ(first_fault({end(2), w(2, 0)}), "T2 acts after its end");
  EXPECT_EQ(first_fault({w(2, 0), join(1, 2), w(2, 0)}), "T2 acts after it was joined");
  EXPECT_EQ(first_fault({join(1, 2), join(0, 2)}), "T0 joins T2, which was joined before");
  EXPECT_EQ(first_fault({join(1, 2), fork(0, 2)}), "T2 is forked here but was joined before");
  EXPECT_EQ(first_fault({event(1, Op::Fork, uint64_t{1} << 40)}), "T1 forks or joins what is no thread");
  EXPECT_EQ(first_fault({fork(0, 1), begin(1), acq(1, 0), end(1), join(0, 1)}), "");
}

TEST(Check, ManyDeadThreads) {
  Checker checker;
  for (unsigned t = 1000; t > 1; --t)
    for (const Event& e : {fork(0, t), begin(t), end(t)}) EXPECT_EQ(checker.next(e), std::nullopt);
  for (unsigned t = 2; t <= 1000; t += 2) EXPECT_EQ(checker.next(join(0, t)), std::nullopt);
  EXPECT_EQ(checker.next(w(500, 1)), "T500 acts after it was joined");
  EXPECT_EQ(checker.next(w(501, 1)), "T501 acts after its end");
  EXPECT_EQ(checker.next(w(1001, 1)), std::nullopt);
}

TEST(Check, ConditionsAndBarriers) {
  EXPECT_EQ(first_fault({wake(1, 0)}), "T1 wakes on C0 but does not wait on it");
  EXPECT_EQ(first_fault({wait(1, 1), wake(1, 0)}), "T1 wakes on C0 but does not wait on it");
  EXPECT_EQ(first_fault({wait(1, 1), wait(1, 0)}), "T1 waits on C0 while it waits on C1");
  EXPECT_EQ(first_fault({wait(1, 1), w(1, 0)}), "T1 acts while it waits on C1");
  EXPECT_EQ(first_fault({leave(1, 0)}), "T1 leaves B0 but is not inside it");
  EXPECT_EQ(first_fault({enter(1, 0), enter(1, 0)}), "T1 enters B0 while it is inside B0");
  EXPECT_EQ(first_fault({enter(1, 0), w(1, 0)}), "T1 acts while it is inside B0");
  EXPECT_EQ(first_fault({wait(1, 1), enter(2, 0), leave(2, 0), wake(1, 1), enter(2, 0), leave(2, 0)}), "");
}

TEST(Check, Memory) {
  constexpr uint64_t kTop = ~uint64_t{0};
  EXPECT_EQ(first_fault({bytes(0, Op::Read, 16, 0)}), "T0 accesses no bytes at 0x10");
  EXPECT_EQ(first_fault({bytes(0, Op::Read, kTop, 2)}), "T0 accesses 0xffffffffffffffff beyond the end of memory");
  EXPECT_EQ(first_fault({alloc(0, 16, 8), alloc(1, 8, 9)}), "T1 allocates 0x8, which overlaps the live block at 0x10");
  EXPECT_EQ(first_fault({alloc(0, 16, 8), alloc(0, 32, 8), alloc(1, 16, 24), dealloc(1, 16, 24)}), "");
  EXPECT_EQ(first_fault({alloc(0, 16, 8), alloc(1, 23, 9)}),
            "T1 allocates 0x17, which overlaps the live block at 0x10");
  EXPECT_EQ(first_fault({alloc(0, 16, 8), dealloc(1, 16, 4)}),
            "T1 frees 4 bytes at 0x10, where the live block is 8 bytes at 0x10");
  EXPECT_EQ(first_fault({alloc(0, 16, 8), alloc(0, 24, 8), alloc(0, 8, 8), dealloc(1, 16, 8), alloc(2, 16, 8)}), "");
  EXPECT_EQ(first_fault({dealloc(1, 16, 8), alloc(1, 16, 0), dealloc(1, 16, 0)}), "");
}

TEST(Check, MissingCallsAndSampling) {
  const Event reach = bytes(0, Op::Reach, 16, 8), on = event(0, Op::SamplingOn, 0), off = event(0, Op::SamplingOff, 0);
  EXPECT_EQ(first_fault({miss(0), reach, reach, w(0, 1), miss(0), back(0), back(0)}), "");
  EXPECT_EQ(first_fault({miss(0), back(0), back(0)}), "T0 comes back from an uninstrumented call that did not begin");
  EXPECT_EQ(first_fault({miss(0), w(0, 1), reach}),
            "T0 names memory in reach, but no uninstrumented call begins just before");
  EXPECT_EQ(first_fault({off, on, off}), "");
  EXPECT_EQ(first_fault({on, w(0, 1), on}), "sampling is switched on twice");
}

TEST(Check, WhatIsOpenAtTheEnd) {
  const auto left_open = [](const Trace& trace) {
    Checker checker;
    for (const Event& e : trace) EXPECT_EQ(checker.next(e), std::nullopt);
    return checker.finish().value_or("");
  };
  EXPECT_EQ(left_open({acq(1, 2)}), "T1 still holds L2 at the end");
  EXPECT_EQ(left_open({wait(1, 2)}), "T1 still waits on C2 at the end");
  EXPECT_EQ(left_open({enter(1, 2)}), "T1 is still inside B2 at the end");
  EXPECT_EQ(left_open({miss(1)}), "T1 is still in an uninstrumented call at the end");
  EXPECT_EQ(left_open({acq(1, 2), rel(1, 2), racq(0, 2), rrel(0, 2), end(1)}), "");
}

TEST(Check, FaultyEventIsLeftOut) {
  Checker checker;
  EXPECT_TRUE(checker.next(rel(1, 0)).has_value());
  EXPECT_FALSE(checker.next(fork(0, 1)).has_value());
  EXPECT_FALSE(checker.next(begin(1)).has_value());
}

// ---- The generator

Trace generate(const GeneratorOptions& options) {
  Generator generator(options);
  Trace trace;
  for (Event e; generator.next(e);) trace.push_back(e);
  return trace;
}

void expect_tidy(const Trace& trace, const std::string& context) {
  Checker checker;
  for (const Event& e : trace) ASSERT_EQ(checker.next(e), std::nullopt) << context << "\n" << show(trace);
  EXPECT_EQ(checker.finish(), std::nullopt) << context;
}

TEST(Generate, WellFormedAndTidy) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const GeneratorOptions options = random_options(seed, 300);
    const Trace trace = generate(options);
    expect_tidy(trace, "seed " + std::to_string(seed));
    EXPECT_GE(trace.size(), options.events / 2);
    EXPECT_LE(trace.size(), options.events + 40);
    if (HasFatalFailure()) return;
  }
}

TEST(Generate, SameOptionsSameTrace) {
  const GeneratorOptions options = random_options(42, 2000);
  EXPECT_EQ(generate(options), generate(options));
  GeneratorOptions other = options;
  other.seed = 43;
  EXPECT_NE(generate(options), generate(other));
}

// Pins the numbers themselves: a trace made from a seed on one machine can be made again on another.
TEST(Generate, SameTraceOnEveryPlatform) {
  uint64_t digest = 0;
  for (const Event& e : generate(random_options(7, 1000)))
    digest = (digest ^ e.target ^ e.value ^ index(e.thread) ^ static_cast<uint64_t>(e.op)) * 0x100000001b3;
  EXPECT_EQ(digest, 8681670128629746091U);
}

TEST(Generate, DisciplinedTracesHaveNoRace) {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    GeneratorOptions options = random_options(seed, 150);
    options.discipline = 1;
    options.race = 0;
    const Trace trace = generate(options);
    ASSERT_EQ(oracle::races(trace, Relation::Hb), Races{}) << "seed " << seed << "\n" << show(trace);
  }
}

TEST(Generate, EveryOperationOccursAndTracesRace) {
  std::set<Op> seen;
  unsigned racy = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Trace trace = generate(random_options(seed, 100));
    for (const Event& e : trace) seen.insert(e.op);
    racy += !oracle::races(trace, Relation::Hb).empty();
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(Op::Fence) + 1);
  EXPECT_GT(racy, 100U);
}

TEST(Generate, ReadsSeeTheLastWrite) {
  GeneratorOptions options;
  options.values = true;
  options.race = 0.2;
  std::map<uint64_t, uint64_t> memory;
  for (const Event& e : generate(options)) {
    if (e.op == Op::Write) memory[e.target] = e.value;
    EXPECT_TRUE(e.op != Op::Read || e.value == memory[e.target]) << show(e);
  }
}

TEST(Generate, NothingSwitchedOn) {
  GeneratorOptions options;
  options.threads = options.variables = options.local_variables = options.locks = options.sites = 0;
  options.accesses_per_section = options.run_length = options.nesting = 0;
  options.race = options.sync_share = 1;
  EXPECT_EQ(generate(options).size(), options.events);
}

// ---- What must hold of every trace

bool is_subset(const Races& small, const Races& large) {
  return std::ranges::all_of(small, [&](const Race& race) { return std::ranges::find(large, race) != large.end(); });
}

// T1 reads a fresh byte, so it comes after the alloc and what came before that.
TEST(Shb, ReadComesAfterItsAlloc) {
  const Trace trace{bytes(0, Op::Write, 100, 8), post(0, 0), w(0, 1), fork(0, 2), alloc(2, 100, 8), take(1, 0),
                    bytes(1, Op::Read, 100, 8),  w(1, 1)};
  EXPECT_EQ(races_of(trace, Relation::Hb), (Races{{2, 7}}));
  EXPECT_EQ(races_of(trace, Relation::Shb), Races{});
  EXPECT_EQ(predictable(trace), Races{});
}

// Up to there no value went from thread to thread but along happens-before; relaxed atomics can do so without a race.
bool values_follow_hb(const Trace& trace, size_t end) {
  const Order hb(trace, Relation::Hb), shb(trace, Relation::Shb);
  for (size_t b = 0; b < end; ++b)
    for (size_t a = 0; a < b; ++a)
      if (shb.before(a, b) && !hb.before(a, b)) return false;
  return true;
}

TEST(EveryTrace, RelationsAreNested) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const Trace trace = generate(random_options(seed, 60));
    const Races hb = races_of(trace), weak = races_of(trace, Relation::WeakHb), shb = races_of(trace, Relation::Shb);
    ASSERT_TRUE(is_subset(hb, weak)) << "seed " << seed << "\n" << show(trace);
    ASSERT_TRUE(is_subset(shb, hb)) << "seed " << seed << "\n" << show(trace);
  }
}

// What is said of one trace by the relations and by the search.
struct Verdict {
  explicit Verdict(std::span<const Event> events)
      : trace(events.begin(), events.end()), hb(oracle::races(trace, Relation::Hb)),
        shb(oracle::races(trace, Relation::Shb)) {
    const auto predicted = oracle::predictable_races(trace, 200'000);
    is_decided = predicted.has_value();
    real = predicted.value_or(Races{});
    is_first_tested = is_decided && !hb.empty() && values_follow_hb(trace, hb.front().second);
  }

  bool shb_race_is_unreal() const { return is_decided && !is_subset(shb, real); }
  bool first_hb_race_is_unreal() const { return is_first_tested && !is_subset({hb.front()}, real); }
  bool is_wrong() const { return shb_race_is_unreal() || first_hb_race_is_unreal(); }

  Trace trace;
  Races hb, shb, real;
  bool is_decided, is_first_tested;
};

TEST(EveryTrace, ShbRacesAndTheFirstHbRaceArePredictable) {
  unsigned with_shb_race = 0, with_first_race = 0, beyond_shb = 0, undecided = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const Verdict verdict(generate(random_options(seed, 32)));
    ASSERT_FALSE(verdict.is_wrong()) << "seed " << seed << "\n"
                                     << show(shrink(verdict.trace, [](auto t) { return Verdict(t).is_wrong(); }));
    undecided += !verdict.is_decided;
    with_shb_race += verdict.is_decided && !verdict.shb.empty();
    with_first_race += verdict.is_first_tested;
    beyond_shb += verdict.is_decided && verdict.real.size() > verdict.shb.size();
  }
  // The test would be worth nothing if few traces came this far.
  EXPECT_GT(with_shb_race, 1000U);
  EXPECT_GT(with_first_race, 1000U);
  EXPECT_GT(beyond_shb, 200U);
  EXPECT_LT(undecided, 30U);
}

// ---- The shrinker

TEST(Shrink, RaceToTwoEvents) {
  const Trace trace = generate(random_options(3, 200));
  const auto has_race = [](std::span<const Event> t) { return !oracle::races(t, Relation::Hb).empty(); };
  ASSERT_TRUE(has_race(trace));
  const Trace small = shrink(trace, has_race);
  EXPECT_EQ(small.size(), 2U) << show(small);
}

TEST(Shrink, KeepsTheSectionsThatOrder) {
  GeneratorOptions options;
  options.events = 120;
  const auto has_ordered_conflict = [](std::span<const Event> t) {
    return oracle::conflicts(t).size() > oracle::races(t, Relation::Hb).size();
  };
  const Trace small = shrink(generate(options), has_ordered_conflict);
  EXPECT_TRUE(is_well_formed(small));
  EXPECT_EQ(small.size(), 5U) << show(small);  // acquire, access, release, acquire, access
}

TEST(Shrink, Text) {
  EXPECT_EQ(show(Trace{w(0, 1), load(1, 3, Acquire), acq(2, 4), fork(0, 7), bytes(0, Op::Read, 0x103, 2),
                       alloc(1, 0x100, 16), fence(1, AcqRel), end(1), back(2)}),
            "T0|w(V1)|0\nT1|load(V3,acquire)|0\nT2|acq(L4)|0\nT0|fork(T7)|0\nT0|r(0x103,2)|0\n"
            "T1|alloc(0x100,16)|0\nT1|fence(acq_rel)|0\nT1|end|0\nT2|back|0\n");
}

}  // namespace
}  // namespace pf
