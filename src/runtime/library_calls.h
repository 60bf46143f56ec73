// Calls from instrumented code into code that is not: BarrierPairs (seed 004 §4). Each thread has a stack of them.
//
// A call begins at its trampoline (boundary.h). When it is over nobody says; it is seen at the next thing that instrumented code says of
// itself which is no callback. That is later than the true end, the safe side. What is in between:
//
//   outside    in the library. What the thread allocates, locks and the like there are events of the call.
//   callback   the library called instrumented code back: known by where its first function was called from, left when the
//              thread's stack of calls is no deeper than at the library's call
//
// While a thread is outside, `watched` and `in_calls` are null (sampler.h), so accesses and entries of functions come here by the test that
// they make anyway; in a callback only `in_calls` is. Chains without this pay for it with one test per atomic operation.
//
// A thread that begins in a library is in a call of it from its beginning to its end.
#pragma once
#include "runtime/reach.h"
#include "runtime/thread.h"

namespace pf::rt::library {

struct Call {
  uintptr_t function;
  uintptr_t caller;
  uint32_t depth;  // of the thread's stack when it was called
  bool in_callback, loads_modules;
  uint32_t piece_count;
  reach::Piece* pieces;
  void* order;  // of the host
};

struct Counts {
  uint64_t calls, cut;  // cut: reached more than we follow
};

bool is_used();
void start();  // once the runtime is ready
Counts counts();

// The thread is outside, and instrumented code says that it runs: calls that it was in are over.
[[gnu::noinline, gnu::cold]] void returned(Thread& t);
inline void look_around(Thread& t) {
  if (t.is_outside) [[unlikely]]
    returned(t);
}

// A function is about to be entered that was called there; the one on top was left.
void enter(Thread& t, uintptr_t caller);
void left(Thread& t);

void frames_changed(Thread& t);  // by longjmp, or another context
void begin_thread(Thread& t, uintptr_t function, uintptr_t argument);
void end_thread(Thread& t);
void modules_changed();

// The thread's next call touches this as well.
void uses(Thread& t, uintptr_t address, uintptr_t size);

}  // namespace pf::rt::library
