// What clock races ask of a thread: how often it has synchronized. No vector, no lock's address (CRSampler, definition 1).
#pragma once
#include <cstdint>

namespace pf::watch {

// Written by its thread, read by all. It must stay readable, and `ticks` must never go back, when the thread is gone.
struct Clock {
  uint64_t ticks = 0;
  uint64_t seen = 0;  // how many samples had been taken in the whole program at the last tick
};

alignas(64) extern uint64_t g_samples_taken;  // a line of its own: all threads read it all the time

// The thread synchronizes: call it before anything that others may acquire, and after anything that was acquired. So, while
// `ticks` is what it was, nobody can have come after what the thread did since; and while `seen` is below the number of
// a sample, the thread cannot have come after anything that was done since that sample.
//
// A handler of a signal may come at any instruction of it, and tick, too. Nothing of that is lost: the count is one instruction,
// and a number that was stored late is stored again. For the asymmetric rule the count alone will do.
inline void count(Clock& c) { __asm__ volatile("incq %0" : "+m"(c.ticks) : : "memory", "cc"); }
inline void see_samples(Clock& c) {
  uint64_t taken;
  do {
    taken = __atomic_load_n(&g_samples_taken, __ATOMIC_ACQUIRE);
    __atomic_store_n(&c.seen, taken, __ATOMIC_RELEASE);
  } while (__atomic_load_n(&g_samples_taken, __ATOMIC_ACQUIRE) != taken);
}
inline void tick(Clock& c) {
  count(c);
  see_samples(c);
}

}  // namespace pf::watch
