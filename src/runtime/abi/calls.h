// The call stack as __tsan_func_entry and __tsan_func_exit keep it.
#pragma once
#include "runtime/thread.h"

namespace pf::rt {

template <class Host>
concept TakesNoteOfCalls = requires(Thread& t, uintptr_t pc) { Host::called(t, pc); };

// Hot: whether a call or a return is like most, and that was all. `From` knows where the thread's variables are.
template <class Host, class From>
[[gnu::always_inline]] inline bool enter_known(uintptr_t caller, uintptr_t stack_pointer) {
  Thread* t = From::in_calls();
  if (TakesNoteOfCalls<Host> || t == nullptr || t->top == t->end) [[unlikely]]
    return false;
  *t->top++ = {caller, 0, static_cast<uint32_t>(stack_pointer)};
  return true;
}
template <class Host, class From>
[[gnu::always_inline]] inline bool leave_known() {
  Thread* t = From::in_calls();
  if (TakesNoteOfCalls<Host> || t == nullptr || t->top == t->bottom) [[unlikely]]
    return false;
  --t->top;
  return true;
}

// It is not: a host that takes note of it, a filter that samples by function, a library's call, a stack that is full or empty, or
// a thread that we have not met.
[[gnu::noinline]] void enter_unknown(uintptr_t caller, uintptr_t stack_pointer, uintptr_t pc);
[[gnu::noinline]] void leave_unknown(uintptr_t pc);

}  // namespace pf::rt
