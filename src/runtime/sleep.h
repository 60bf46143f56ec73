// Who sleeps until another thread tells it something: in pthread_join, or in pthread_cond_wait. That is from when it can do nothing any more
// until somebody notifies it, even if it is not awake yet.
//
// A notification wakes one of those who wait for the condition, or all of them: as many are still to wake up (`to_wake`), and each
// may be the one. When they have, the others sleep on.
#pragma once
#include "runtime/thread.h"

namespace pf::rt::sleep {

// Of a condition. Changed under its Line; others read it.
struct Waiters {
  uint64_t name;  // of its own among all: where the condition is gone, another one may be in its place
  uint32_t count, to_wake;
};

// Under the condition's Line.
void expect(Thread& t, Waiters& waiters);  // it is about to wait
void notify(Waiters& waiters, bool all);
void wake(const Thread& t, Waiters& waiters, bool by_notice);

// Around the sleep itself.
void begin(Thread& t);  // without an end, for what it expects
void end(Thread& t);
void begin_join(Thread& t, const ThreadInfo& child);
void end_join(Thread& t);

inline bool is_in_bed(const Thread& t) { return t.sleeps_until_end_of != nullptr || t.sleeps_for != nullptr; }
// The registry is locked: whom it waits for may not leave that meanwhile.
bool is_asleep(const Thread& t);

}  // namespace pf::rt::sleep
