// C11 threads. glibc builds them on the same objects as POSIX threads, and starts the thread by a way of its own, which
// we replace by ours.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include <new>

#include "runtime/intercept/intercept.h"
#include "runtime/intercept/once.h"

using namespace pf;
using namespace pf::rt;

namespace {

PF_REAL(mtx_lock);
PF_REAL(mtx_trylock);
PF_REAL(mtx_timedlock);
PF_REAL(mtx_unlock);
PF_REAL(malloc);
PF_REAL(free);

int result_of(int error) {
  switch (error) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
  }
}

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* p) {
  const Start start = *static_cast<Start*>(p);
  real_free(p);
  return reinterpret_cast<void*>(static_cast<intptr_t>(start.function(start.argument)));
}

int taken(int result, mtx_t* m, uintptr_t pc) {
  if (Thread* t = current(); result == thrd_success && t != nullptr) lock_taken(*t, address_of(m), LockMode::Write, pc);
  return result;
}

pthread_cond_t* posix(cnd_t* c) { return reinterpret_cast<pthread_cond_t*>(c); }
pthread_mutex_t* posix(mtx_t* m) { return reinterpret_cast<pthread_mutex_t*>(m); }

}  // namespace

PF_EXPORT int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  void* memory = real_malloc(sizeof(Start));
  if (memory == nullptr) return thrd_nomem;
  auto* start = new (memory) Start{function, argument};
  const int error = pthread_create(thread, nullptr, &run, start);
  if (error != 0) real_free(start);
  return result_of(error);
}
PF_EXPORT int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (error == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  return result_of(error);
}
PF_EXPORT int thrd_detach(thrd_t thread) { return result_of(pthread_detach(thread)); }
PF_EXPORT void thrd_exit(int result) { pthread_exit(reinterpret_cast<void*>(static_cast<intptr_t>(result))); }

PF_EXPORT int mtx_lock(mtx_t* m) { return taken(real_mtx_lock(m), m, PF_CALLER_PC); }
PF_EXPORT int mtx_trylock(mtx_t* m) { return taken(real_mtx_trylock(m), m, PF_CALLER_PC); }
PF_EXPORT int mtx_timedlock(mtx_t* m, const timespec* until) {
  return taken(real_mtx_timedlock(m, until), m, PF_CALLER_PC);
}
PF_EXPORT int mtx_unlock(mtx_t* m) {
  if (Thread* t = current(); t != nullptr) lock_given_up(*t, address_of(m), PF_CALLER_PC);
  return real_mtx_unlock(m);
}
PF_EXPORT void mtx_destroy(mtx_t* m) { pthread_mutex_destroy(posix(m)); }

PF_EXPORT int cnd_signal(cnd_t* c) { return result_of(pthread_cond_signal(posix(c))); }
PF_EXPORT int cnd_broadcast(cnd_t* c) { return result_of(pthread_cond_broadcast(posix(c))); }
PF_EXPORT int cnd_wait(cnd_t* c, mtx_t* m) { return result_of(pthread_cond_wait(posix(c), posix(m))); }
PF_EXPORT int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return result_of(pthread_cond_timedwait(posix(c), posix(m), until));
}
PF_EXPORT void cnd_destroy(cnd_t* c) { pthread_cond_destroy(posix(c)); }

PF_EXPORT void call_once(once_flag* flag, void (*function)()) {
  static_assert(sizeof(once_flag) == sizeof(pthread_once_t));
  once(reinterpret_cast<pthread_once_t*>(flag), function);
}
