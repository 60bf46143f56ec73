// Samples that wait for somebody else's access: a sampled access takes a slot, a breakpoint (or, without breakpoints, the host's
// software) watches its bytes, and the first conflicting access of another thread that no synchronization keeps apart takes the
// sample out again: a race. Clock races and collisions differ only in what the sampling thread does meanwhile.
//
// Why what take() and hit() return is a race by happens-before: the sampled access e1 comes right after the arming, with no
// synchronization between; the other one, e2, has seen the arming, and its thread t2 has not synchronized since. So e2 cannot come before e1.
// And e1 before e2 takes a release of t1 after e1 and an acquire of t2 after that: either t1 ticked, or (symmetric
// rule: both) t2's clock has not seen the sample's number.
//
// A slot is reused when its sample is over: its thread went on (asymmetric rule), or its time is up. Looking for that is left to whoever
// wants a slot, so no thread or timer of our own runs in the target. What the slots cost is bounded: after an arming
// that took c, none follows for a multiple of that (Settings::pause); a breakpoint is given up after a few traps that were for nothing.
//
// Threads: any function at any time, signal handlers included, except start() and start_in_child(). Inside the target: no libc but clock_gettime.
#pragma once
#include "watch/breakpoints.h"
#include "watch/clock.h"

namespace pf::watch {

struct Sample {
  const Clock* thread;
  uintptr_t address;  // what is watched: a part of the access that a breakpoint can (part_of)
  uint8_t length;
  bool write;               // then reads meet it, too
  uint64_t access, detail;  // the host's own
};

// The first bytes of an access that one breakpoint can watch.
struct Part {
  uintptr_t address;
  uint8_t length;
};
Part part_of(uintptr_t address, uintptr_t size);

// Of a clock that does not go back.
uint64_t nanoseconds();
// Of this thread: what it waited for a processor is not in it. A system call.
uint64_t processor_nanoseconds();

namespace slots {

struct Settings {
  bool hardware = true;
  bool symmetric = false;
  uint64_t limit = 15'000'000;  // nanoseconds
  uint64_t pause = 20;          // after an arming, times what it took
};
struct Started {
  unsigned slots;  // never 0: without breakpoints, the host has to call take() for every access
  bool hardware;
  int why;  // if it is not, or of fewer than there could be: the kernel's error number
};
Started start(const Settings& settings);
Started start_in_child();  // after fork: no sample of the parent's threads is left
// No sample is left, nor any breakpoint armed; and in the end, when nobody is at it any more, the breakpoints are given back.
void stop();
void give_back();
bool is_hardware();  // false as well once the program has closed our descriptors

// Takes a slot; 0 if there is none. Call it from the thread of the sample, right before its access.
uint64_t arm(const Sample& sample);
// So many were not even tried: there was none a moment ago.
void left_out(uint64_t samples);
// The sampler does not wait any longer. False: somebody has taken the sample.
bool finish(uint64_t ticket);
// Sleeps until somebody has taken the sample (none: ticket 0), the time is up, or a signal comes.
void wait(uint64_t ticket, uint64_t nanoseconds);

// Whether the second thread's synchronization counts, too, and threads have to say what they have seen: a load.
extern bool g_symmetric;
inline bool is_symmetric() { return __atomic_load_n(&g_symmetric, __ATOMIC_RELAXED); }

// Whether any slot is in use: a load.
extern uint32_t g_waiting;
inline bool any() { return __atomic_load_n(&g_waiting, __ATOMIC_RELAXED) != 0; }

// Whether one may be for the 8 aligned bytes of this address: a load, by its lower bits.
inline constexpr unsigned kWatched = 256;
extern uint8_t g_watched[kWatched];
inline unsigned watched_place(uintptr_t address) { return address / 8 % kWatched; }
inline bool may_be_watched(uintptr_t address) {
  return __atomic_load_n(&g_watched[watched_place(address)], __ATOMIC_RELAXED) != 0;
}

// The thread of `clock` makes an access. True: it races with the sample, which is out of its slot now. Call it right before the access; or
// after it, with `latest` = g_samples_taken from before: whoever sampled since may have acquired what the access released.
bool take(const Clock& clock, uintptr_t address, uintptr_t size, bool write, uint64_t latest, Sample& with);
// A breakpoint trapped on the thread of `clock`, right after its access.
bool hit(const Clock& clock, const Trap& trap, Sample& with);
// What hit() would look at, without consequences: the thread is not to be asked, but the trap has been.
void miss(const Trap& trap);
// Whether a sample waits for an access to these bytes.
bool any_in(uintptr_t address, uintptr_t size);
// The memory is no longer what it was: nothing in it is watched any more.
void forget(uintptr_t address, uintptr_t size);

struct Statistics {
  uint64_t armed, fired;
  uint64_t expired;  // their time was up
  uint64_t stale;    // their thread, or both, had synchronized
  uint64_t own;      // given up: only the thread's own accesses came
  uint64_t busy;     // no slot for a sample
  uint64_t late;     // traps that came for a sample that was not there any more
};
Statistics statistics();

}  // namespace slots
}  // namespace pf::watch
