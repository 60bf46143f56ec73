// A filter in front of the detector that samples accesses: literace.h by the function that makes them, carisma.h by the memory they are to.
// What is called most asks a thread-local pointer that such a filter keeps null (`watched`, `in_calls`), so a chain without
// one pays nothing: it is the test for a thread that is not known, which is there anyway.
#pragma once
#include "core/event.h"
#include "runtime/carisma.h"
#include "runtime/literace.h"
#include "runtime/thread.h"

namespace pf::rt::sampler {

// Once options are known.
void start();
bool is_used();
uint64_t seed();  // of this run

// The code that runs here is this thread's from now on; null: nobody's.
void become(Thread* t);

// Of an access that found nobody watching. Hot where most are not sampled: whether that is known at once; then it is counted.
inline bool drops(Thread& t, uintptr_t address, uintptr_t size) {
  const bool dropped =
      t.bursts != nullptr ? literace::is_paused(t) : carisma::is_used() && carisma::is_unsampled(address, size);
  t.dropped += dropped ? 1 : 0;
  return dropped;
}
// Else: whether it goes on to the detector; if not, it is counted.
[[gnu::noinline]] bool passes(Thread& t, Op op, uintptr_t address, uintptr_t size);

}  // namespace pf::rt::sampler
