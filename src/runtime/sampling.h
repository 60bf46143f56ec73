// When the program samples (PACER): one sequence of periods for all threads, drawn as core/periods.h says. Nobody is stopped: a
// thread compares the period it has seen with the current one whenever it enters the runtime, which is soon enough
// (detect/pacer.h says why).
#pragma once
#include "core/periods.h"
#include "runtime/thread.h"

namespace pf::rt::sampling {

// Counts the changes; odd while the program samples.
extern uint32_t g_period;
inline uint32_t period() { return __atomic_load_n(&g_period, __ATOMIC_RELAXED); }
inline bool is_on(uint32_t period) { return (period & 1) != 0; }

// At the start of the program, once options are known: draws the first period.
void begin(const char* run_directory);

// What this run draws by: the seed that was given, made another one for each trial, or a fresh one.
uint64_t seed();

// The thread did a unit of work: a synchronization operation or an allocation. Told to all some at a time.
extern uint32_t g_batch;
[[gnu::noinline]] void tell_work(Thread& t);
[[gnu::always_inline]] inline bool is_time_to_tell(Thread& t) {
  return ++t.work >= __atomic_load_n(&g_batch, __ATOMIC_RELAXED);
}
inline void work(Thread& t) {
  if (is_time_to_tell(t)) [[unlikely]]
    tell_work(t);
}
// What it did before it saw a period begin or end.
void tell_late_work(Thread& t);

// The program itself says when; nothing is drawn any more.
void force(bool on);

// Somebody wakes up who is in the way of rest (rest.h).
void end_rest();

struct Counts {
  uint64_t rate, work, sampled_work;
};
// Only of an engine that samples.
bool is_used();
Counts counts();

}  // namespace pf::rt::sampling
