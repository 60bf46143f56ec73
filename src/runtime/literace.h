// LiteRace inside programs (filter/literace.h has the idea, filter/burst.h the law): functions are what __tsan_func_entry and
// __tsan_func_exit tell of. A call is decided when it begins, and its frame keeps the decision; so a longjmp, an exception or a
// change of context, which put another frame on top, put its decision back with it (look_at_top).
//
// Each thread has its own table of functions: no lock. While the call on top is not sampled, `watched` is null, and an access
// ends at that test.
#pragma once
#include "filter/burst.h"
#include "runtime/thread.h"

namespace pf::rt::literace {

struct Function {
  uintptr_t pc;  // where it announces itself; 0: vacant
  BurstCounter counter;
};

struct Bursts {
  Random draws{0};
  BurstCounter outside;  // of any function: each access is an execution
  Function* functions = nullptr;
  uint32_t capacity = 0, used = 0;  // a power of two, at most three quarters used
};

bool is_used();

// For a thread of that number; `old` is that of an earlier one whose place it takes, or null. Null if the chain has no such filter.
Bursts* new_bursts(Bursts* old, uint32_t thread);

// A call of the function at pc begins, and the call on top ends.
void enter(Thread& t, uintptr_t caller, uintptr_t stack_pointer, uintptr_t pc);
void leave(Thread& t);
// The call on top may be another one.
void look_at_top(Thread& t);

// Hot: of an access that found nobody watching, whether the call on top is why.
inline bool is_paused(const Thread& t) { return t.top != t.bottom; }
// Else each access is an execution.
bool passes_outside(Thread& t);

}  // namespace pf::rt::literace
