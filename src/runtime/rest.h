// Rest: everybody knows all that was ever sampled (PACER). Then nothing that is recorded can race with anybody any more, nor with who comes
// later, since a new thread knows what its parent does; and no synchronization brings news. So until the next period begins neither memory
// nor order is anything to the detector, and this is known from one byte. Before the first period it is so from the start.
//
// Of what only one thread can know, because that one has not told anybody since, there is no news either while it waits in pthread_join.
// Then there is rest, but for what was sampled: memory with a history is still looked at (quiet.h).
//
// Who knows: each thread finds out for itself, against the latest epoch that each slot sampled in (`sampled_up_to`); the generation of
// those is what it knows of. A thread that waits in pthread_join knows what the one it waits for does, for it will before it goes on.
//
// A thread that waits for a condition, without an end, will know what the one that notifies it does: notifications are told at rest, too. So
// it is not in the way of a rest while nobody has notified it; nor later, if the last one who has knew all (each waiter of a condition is told of each
// notification). Where a rest began meanwhile, that was before the notification it wakes up by, or would not have been: so it knows what
// all knew then. It might wake up for no reason, or be cancelled, without that: then it is taken to know, which can miss a race but not make one up.
//
//   period ─▶ threads leave it, each tells its epoch ─▶ they learn of each other ─▶ all know ─▶ rest ─▶ period
//
// What all know when a rest begins is forgotten then (quiet.h): so what is kept of histories is in proportion to what is sampled.
//
// What is skipped at rest would have told what all know already; what is left of it in objects and memory is older, and known as well.
// An atomic operation must not begin at rest and be made in the period: in between, somebody may have published news with the value that
// it takes or replaces. So it says that it is under way (Thread::at_rest, a plain store), and a period begins with a barrier on all
// threads (sys.h), after which every thread that begins to sample waits until no such operation is left. Of locks nothing is needed: what
// is published there is published before the lock is free, so who takes it then sees that rest is over.
#pragma once
#include "runtime/quiet.h"
#include "runtime/slots.h"
#include "runtime/thread.h"

namespace pf::rt::rest {

extern bool g_on;
inline bool is_on() { return __atomic_load_n(&g_on, __ATOMIC_RELAXED); }

// Of a condition: how often somebody notified its waiters, and the generation that the last one who did so knew of.
struct Notices {
  uint32_t count, known;
};

// What the detector's threads can be asked for, and told.
struct Knowledge {
  OnlineEpoch (*epoch)(const Thread& t);
  bool (*has_told_nobody)(const Thread& t);  // of what it sampled in that epoch
  bool (*knows)(const Thread& t, OnlineEpoch e);
  void (*learn)(Thread& t, OnlineEpoch e);
  quiet::Forgetting histories;  // forgets what is_known_to_all()
};
// At the start, before the first period. Without this there is no rest.
void allow(const Knowledge& knowledge);
void start_in_child(bool samples);  // after a fork: of its only thread

// --- by sampling.cpp, one at a time ---

void begin_at_start();  // nothing was sampled so far
bool seek(Thread& t);   // between periods, now and then; whether a rest began
void end();             // no operation begins at rest any more
bool is_sought();       // and there is hope
// After one began, without the locks of seek(): what was sampled before is forgotten.
void forget_samples(Thread& t);
bool is_known_to_all(OnlineEpoch e);

// --- by each thread ---

// It sees another period than before. Afterwards there is no rest before it looks for itself again.
void forget_knowledge(Thread& t);
// It is about to find out whether it samples. Then, or once it has left the period or is at its end: it does not, and if it has, what it
// recorded is of this epoch at the latest.
void may_sample();
void samples_no_more(OnlineEpoch latest, bool has_sampled);
// It begins to sample: operations that began at rest are over afterwards.
void wait_for_operations();

// Around pthread_join. Who begins to wait in a period has left it until it goes on; what it sampled and told nobody it keeps. A handler
// that comes in between runs without the knowledge that was counted on: where the program has handlers, it is not. One that was set later finds the thread with all that was known when the rest began.
void begin_join(Thread& t, const Thread* child);
void end_join(Thread& t);
void be_interrupted(Thread& t);
void expect_interruptions();

// Around a wait for a condition. Under its Line: the thread becomes one of those who are notified; somebody notifies them. Then what is around
// the sleep itself, after the mutex was told to be released. Handlers as above.
void expect_notices(Thread& t, const Notices& notices);
void notify(const Thread& t, Notices& notices);
void begin_wait(Thread& t, bool is_for_ever);
void end_wait(Thread& t);

// An operation of the program, if there is rest; whether it was made. A leaf: signals that came meanwhile are the caller's to deliver.
template <class Real>
[[gnu::always_inline]] inline bool make(Thread& t, Real real) {
  if (!is_on()) return false;
  t.at_rest = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool on = is_on();
  if (on) [[likely]]
    real();
  __atomic_store_n(&t.at_rest, false, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return on;
}

}  // namespace pf::rt::rest
