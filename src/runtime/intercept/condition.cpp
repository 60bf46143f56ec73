// Condition variables. A wait gives up its mutex and takes it again: both are told, and the signal that woke it orders as well.
#include <pthread.h>

#include "runtime/intercept/intercept.h"
#include "runtime/intercept/lock_memory.h"
#include "runtime/past.h"
#include "runtime/rest.h"
#include "runtime/sleep.h"

using namespace pf;
using namespace pf::rt;

namespace {

// The default version: the older one is for programs of 2002 whose condition variables are a pointer.
constinit Real<decltype(&::pthread_cond_wait)> real_wait{"pthread_cond_wait", "GLIBC_2.3.2"};
constinit Real<decltype(&::pthread_cond_timedwait)> real_timedwait{"pthread_cond_timedwait", "GLIBC_2.3.2"};
constinit Real<decltype(&::pthread_cond_signal)> real_signal{"pthread_cond_signal", "GLIBC_2.3.2"};
constinit Real<decltype(&::pthread_cond_broadcast)> real_broadcast{"pthread_cond_broadcast", "GLIBC_2.3.2"};
constinit Real<decltype(&::pthread_cond_init)> real_init{"pthread_cond_init", "GLIBC_2.3.2"};
constinit Real<decltype(&::pthread_cond_destroy)> real_destroy{"pthread_cond_destroy", "GLIBC_2.3.2"};
PF_REAL(pthread_cond_clockwait);

struct Waiting {
  Thread* thread;
  uintptr_t condition, mutex, pc;
  bool by_notice = false;  // else it gives up, or is cancelled
};

void woken(void* p) {
  const auto& w = *static_cast<Waiting*>(p);
  const Scope scope(*w.thread);
  rest::end_wait(*w.thread);
  sleep::end(*w.thread);
  const CalledAt here(w.pc);
  host::wake(*w.thread, w.condition, w.by_notice);
  lock_taken(*w.thread, w.mutex, LockMode::Write, w.pc);
}

// A cancelled wait ends by unwinding, with the mutex held again: the clean-up tells so.
template <bool kIsForEver, class Wait>
int wait_on(pthread_cond_t* c, pthread_mutex_t* m, uintptr_t pc, Wait wait) {
  Thread* t = current();
  if (t == nullptr) return wait();
  lock_memory::used(*t, c, pc);  // only here: once woken, it may be gone
  Waiting waiting{t, address_of(c), address_of(m), pc};
  {
    const Scope scope(*t);
    host::wait(*t, waiting.condition);
    lock_given_up(*t, waiting.mutex, pc);
    rest::begin_wait(*t, kIsForEver);
    if (kIsForEver) sleep::begin(*t);
  }
  int result = 0;
  pthread_cleanup_push(&woken, &waiting);
  result = wait();
  waiting.by_notice = result == 0;
  pthread_cleanup_pop(1);
  return result;
}

void notify(pthread_cond_t* c, uintptr_t pc, bool all) {
  Thread* t = current();
  if (t == nullptr) return;
  lock_memory::used(*t, c, pc);
  const CalledAt here(pc);
  host::notify(*t, address_of(c), all);
}

}  // namespace

PF_EXPORT int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  return wait_on<true>(c, m, PF_CALLER_PC, [=] { return real_wait(c, m); });
}
PF_EXPORT int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return wait_on<false>(c, m, PF_CALLER_PC, [=] { return real_timedwait(c, m, until); });
}
PF_EXPORT int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  return wait_on<false>(c, m, PF_CALLER_PC, [=] { return real_pthread_cond_clockwait(c, m, clock, until); });
}
PF_EXPORT int pthread_cond_signal(pthread_cond_t* c) noexcept {
  notify(c, PF_CALLER_PC, false);
  return real_signal(c);
}
PF_EXPORT int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  notify(c, PF_CALLER_PC, true);
  return real_broadcast(c);
}
PF_EXPORT int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attributes) noexcept {
  const int result = real_init(c, attributes);
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes != nullptr) pthread_condattr_getpshared(attributes, &shared);
  if (shared == PTHREAD_PROCESS_SHARED) past::count_on_nobody();
  if (Thread* t = current(); result == 0 && t != nullptr) lock_memory::made_or_gone(*t, c, PF_CALLER_PC);
  return result;
}
PF_EXPORT int pthread_cond_destroy(pthread_cond_t* c) noexcept {
  if (Thread* t = current(); t != nullptr) {
    lock_memory::made_or_gone(*t, c, PF_CALLER_PC);
    host::forget_object(*t, address_of(c));
  }
  return real_destroy(c);
}
