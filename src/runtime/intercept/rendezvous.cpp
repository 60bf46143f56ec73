// Barriers, semaphores and once: what orders threads without being held.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>

#include "runtime/intercept/intercept.h"
#include "runtime/intercept/lock_memory.h"
#include "runtime/intercept/once.h"

using namespace pf::rt;

namespace {

PF_REAL(pthread_barrier_init);
PF_REAL(pthread_barrier_wait);
PF_REAL(pthread_barrier_destroy);
PF_REAL(sem_init);
PF_REAL(sem_destroy);
PF_REAL(sem_wait);
PF_REAL(sem_trywait);
PF_REAL(sem_timedwait);
PF_REAL(sem_clockwait);
PF_REAL(sem_post);
PF_REAL(sem_getvalue);
PF_REAL(pthread_once);

int taken(int result, sem_t* s) {
  if (Thread* t = current(); result == 0 && t != nullptr) host::take(*t, address_of(s));
  return result;
}

}  // namespace

PF_EXPORT int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attributes,
                                   unsigned count) noexcept {
  const int result = real_pthread_barrier_init(b, attributes, count);
  if (Thread* t = current(); result == 0 && t != nullptr) lock_memory::made_or_gone(*t, b, PF_CALLER_PC);
  return result;
}
PF_EXPORT int pthread_barrier_wait(pthread_barrier_t* b) noexcept {
  Thread* t = current();
  if (t == nullptr) return real_pthread_barrier_wait(b);
  lock_memory::used(*t, b, PF_CALLER_PC);  // only here: once all came, one of them may destroy it
  host::barrier_enter(*t, address_of(b));
  const int result = real_pthread_barrier_wait(b);
  host::barrier_leave(*t, address_of(b));
  return result;
}
PF_EXPORT int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  if (Thread* t = current(); t != nullptr) {
    lock_memory::made_or_gone(*t, b, PF_CALLER_PC);
    host::forget_object(*t, address_of(b));
  }
  return real_pthread_barrier_destroy(b);
}

PF_EXPORT int sem_init(sem_t* s, int shared, unsigned value) noexcept {
  const int result = real_sem_init(s, shared, value);
  if (Thread* t = current(); result == 0 && t != nullptr) host::forget_object(*t, address_of(s));
  return result;
}
PF_EXPORT int sem_destroy(sem_t* s) noexcept {
  if (Thread* t = current(); t != nullptr) host::forget_object(*t, address_of(s));
  return real_sem_destroy(s);
}
PF_EXPORT int sem_wait(sem_t* s) { return taken(real_sem_wait(s), s); }
PF_EXPORT int sem_trywait(sem_t* s) noexcept { return taken(real_sem_trywait(s), s); }
PF_EXPORT int sem_timedwait(sem_t* s, const timespec* until) { return taken(real_sem_timedwait(s, until), s); }
PF_EXPORT int sem_clockwait(sem_t* s, clockid_t clock, const timespec* until) {
  return taken(real_sem_clockwait(s, clock, until), s);
}
PF_EXPORT int sem_getvalue(sem_t* s, int* value) noexcept { return taken(real_sem_getvalue(s, value), s); }
PF_EXPORT int sem_post(sem_t* s) noexcept {
  if (Thread* t = current(); t != nullptr) host::post(*t, address_of(s));
  return real_sem_post(s);
}

// What the one call did comes before what everybody does after theirs.
namespace {

struct Once {
  void (*function)();
  uintptr_t control;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Once g_once = {};

void call_and_post() {
  const Once once = g_once;
  once.function();
  if (Thread* t = current(); t != nullptr) host::post(*t, once.control);
}

}  // namespace

namespace pf::rt {

int once(pthread_once_t* control, void (*function)()) {
  const Once outer = g_once;  // a function called once may call another
  g_once = {function, address_of(control)};
  const int result = real_pthread_once(control, &call_and_post);
  g_once = outer;
  if (Thread* t = current(); t != nullptr) host::take(*t, address_of(control));
  return result;
}

}  // namespace pf::rt

PF_EXPORT int pthread_once(pthread_once_t* control, void (*function)()) { return once(control, function); }
