// Jumps between stack frames: longjmp, and the contexts of ucontext.h. They leave functions without __tsan_func_exit, so the call
// stack that we keep is put right here.
#include <setjmp.h>
#include <ucontext.h>

#include "runtime/intercept/intercept.h"
#include "runtime/literace.h"
#include "runtime/objects.h"

using namespace pf::rt;

namespace {

using Jump = void (*)(jmp_buf, int);
constinit Real<Jump> real_longjmp{"longjmp"};
constinit Real<Jump> real__longjmp{"_longjmp"};
constinit Real<Jump> real_siglongjmp{"siglongjmp"};
constinit Real<Jump> real_longjmp_chk{"__longjmp_chk"};
PF_REAL(swapcontext);
PF_REAL(setcontext);

// glibc keeps the stack pointer of setjmp's caller in the seventh word, scrambled with a secret of the process.
uintptr_t stack_pointer_of(const jmp_buf& buffer) {
  auto word = static_cast<uintptr_t>(buffer[0].__jmpbuf[6]);
  __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(word));
  return word;
}

void leave_frames(const jmp_buf& buffer) {
  Thread* t = self;
  if (t == nullptr) return;
  t->caller = 0;
  unwind(*t, stack_pointer_of(buffer));
}

// Call stacks of contexts: each has its own, empty when the context was made.
struct CallStack {
  Frame *bottom, *top, *end;
};
CallStack call_stack(const Thread& t) { return {t.bottom, t.top, t.end}; }
void use(Thread& t, const CallStack& s) {
  t.bottom = s.bottom;
  t.top = s.top;
  t.end = s.end;
  literace::look_at_top(t);
}

CallStack fresh_call_stack() {
  constexpr std::size_t kFrames = 1024;
  auto* frames = static_cast<Frame*>(map_or_die(kFrames * sizeof(Frame), "call stacks"));
  return {frames, frames, frames + kFrames};
}

// A context that starts anew: makecontext stores its function's registers, swapcontext stores the caller's.
struct Context : Object {
  static constexpr uint8_t kKind = kContextObject;
  CallStack stack;
};

// The call stack of a context that was never left before. One that was puts its own back when it goes on.
void enter_context(Thread& t, const ucontext_t* to) {
  CallStack next{};
  {
    const Scope scope(t);
    Line line(address_of(to));
    auto& c = line.get<Context>(address_of(to), *t.arena);
    if (c.stack.bottom == nullptr) c.stack = fresh_call_stack();
    next = c.stack;
  }
  use(t, next);
}

}  // namespace

PF_EXPORT void longjmp(jmp_buf buffer, int value) noexcept {
  leave_frames(*reinterpret_cast<const jmp_buf*>(buffer));
  real_longjmp(buffer, value);
  __builtin_unreachable();
}
PF_EXPORT void _longjmp(jmp_buf buffer, int value) noexcept {
  leave_frames(*reinterpret_cast<const jmp_buf*>(buffer));
  real__longjmp(buffer, value);
  __builtin_unreachable();
}
PF_EXPORT void siglongjmp(sigjmp_buf buffer, int value) noexcept {
  leave_frames(*reinterpret_cast<const jmp_buf*>(buffer));
  real_siglongjmp(buffer, value);
  __builtin_unreachable();
}
PF_EXPORT void __longjmp_chk(jmp_buf buffer, int value) noexcept {
  leave_frames(*reinterpret_cast<const jmp_buf*>(buffer));
  real_longjmp_chk(buffer, value);
  __builtin_unreachable();
}

PF_EXPORT int swapcontext(ucontext_t* from, const ucontext_t* to) noexcept {
  Thread* t = current();
  if (t == nullptr) return real_swapcontext(from, to);
  const CallStack mine = call_stack(*t);
  enter_context(*t, to);
  const int result = real_swapcontext(from, to);
  if (Thread* now = current(); now != nullptr) use(*now, mine);  // maybe on another thread
  return result;
}
PF_EXPORT int setcontext(const ucontext_t* to) noexcept {
  if (Thread* t = current(); t != nullptr) enter_context(*t, to);
  return real_setcontext(to);
}
