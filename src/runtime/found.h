// Where races go: named once per pair of places, written to the run directory at once, counted from then on.
#pragma once
#include "core/ids.h"
#include "core/race.h"
#include "runtime/thread.h"

namespace pf::rt {

struct Lesson;

// The thread of an access that only its effect is known of (collisions).
inline constexpr uint32_t kNobody = UINT32_MAX;

struct Finding {
  depot::Id prior;  // the earlier access, see describe()
  ThreadId prior_thread;
  depot::Id now;
  uintptr_t address;
  Verdict verdict;
  bool by_locks;                      // of a potential race: nothing but the order of locks hid it
  const Lesson* hidden_by = nullptr;  // the lock, if it is known
};

[[gnu::noinline, gnu::cold]] void found(Thread& t, const Finding& f);

// A mistake of the program that is not a race, such as unlocking what is not locked.
void misuse(Thread& t, const char* what, uintptr_t address, uintptr_t pc);

// At the end of the process: threads that ended and that nobody joined. Once for all that were created in the same place.
void report_thread_leaks();

uint64_t reported();          // races and misuses so far
void count_ended(Thread& t);  // its accesses stay in the sum
void write_summary();         // at the end of the process, once
void summary_again();         // in a forked child, whose end is another one
void start_reports_over();    // as if nothing had been found so far, for another reader

}  // namespace pf::rt
