// The process: fork, exit, and what runs at exit. A forked child goes on detecting, with a file of its own in the run directory.
#include <stdlib.h>
#include <unistd.h>

#include "runtime/found.h"
#include "runtime/intercept/intercept.h"
#include "runtime/output.h"
#include "runtime/registry.h"
#include "runtime/runtime.h"

using namespace pf::rt;

namespace {

constinit Real<void (*)(int)> real__exit{"_exit"};
constinit Real<int (*)(void (*)(void*), void*, void*)> real_cxa_atexit{"__cxa_atexit"};
constinit Real<int (*)(void (*)(int, void*), void*)> real_on_exit{"on_exit"};
constinit Real<int (*)(void (*)(), void (*)(), void (*)(), void*)> real_register_atfork{"__register_atfork"};
PF_REAL(malloc);

// Nobody else is inside the runtime while the process is copied: the child has no thread that could let go of a lock.
void before_fork() {
  if (Thread* t = self; t != nullptr) registry::close_gate(*t);
}
void in_parent() {
  if (Thread* t = self; t != nullptr) registry::open_gate(*t);
}
void in_child() {
  Thread* t = self;
  if (t == nullptr) return;
  registry::open_gate(*t);
  registry::only(*t);
  become_own_process();
  if (is_dormant()) return;
  host::start_in_child();
  registry::outlive_others(*t);
  output::start_over();
  summary_again();
}

// What was done before a handler was registered comes before the handler.
struct AtExit {
  void (*function)(void*);
  void (*with_code)(int, void*);
  void* argument;
};

void run_at_exit(void* p) {
  const AtExit handler = *static_cast<AtExit*>(p);
  if (Thread* t = current(); t != nullptr) host::take(*t, address_of(p));
  handler.function(handler.argument);
}
void run_on_exit(int code, void* p) {
  const AtExit handler = *static_cast<AtExit*>(p);
  if (Thread* t = current(); t != nullptr) host::take(*t, address_of(p));
  handler.with_code(code, handler.argument);
}

// The wrapped handler, or null if there is no thread to order or no memory: then it is registered as it is.
AtExit* wrapped(const AtExit& handler) {
  Thread* t = current();
  if (t == nullptr) return nullptr;
  auto* copy = static_cast<AtExit*>(real_malloc(sizeof(AtExit)));
  if (copy == nullptr) return nullptr;
  *copy = handler;
  host::post(*t, address_of(copy));
  return copy;
}

}  // namespace

namespace pf::rt {

// Registered first of all, ours run last before the fork and first after it.
void watch_forks() { real_register_atfork(&before_fork, &in_parent, &in_child, nullptr); }

}  // namespace pf::rt

PF_EXPORT int __cxa_atexit(void (*function)(void*), void* argument, void* library) {
  AtExit* handler = wrapped({function, nullptr, argument});
  if (handler == nullptr) return real_cxa_atexit(function, argument, library);
  return real_cxa_atexit(&run_at_exit, handler, library);
}
// libc has it as a static function in every program; those built without find ours.
PF_EXPORT int on_exit(void (*function)(int, void*), void* argument) noexcept {
  AtExit* handler = wrapped({nullptr, function, argument});
  if (handler == nullptr) return real_on_exit(function, argument);
  return real_on_exit(&run_on_exit, handler);
}

PF_EXPORT void _exit(int code) {
  if (is_own_process()) {
    write_summary();
    if (!output::supervised() && reported() != 0) code = exit_code();
  }
  real__exit(code);
  __builtin_unreachable();
}
PF_EXPORT void _Exit(int code) noexcept { _exit(code); }
