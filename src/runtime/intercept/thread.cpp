// POSIX threads: creation, end, join in all its forms, names.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#include "runtime/carisma.h"
#include "runtime/intercept/intercept.h"
#include "runtime/past.h"
#include "runtime/planted.h"
#include "runtime/registry.h"
#include "runtime/rest.h"
#include "runtime/runtime.h"
#include "runtime/sleep.h"

using namespace pf::rt;

namespace {

PF_REAL(pthread_create);
PF_REAL(pthread_join);
PF_REAL(pthread_tryjoin_np);
PF_REAL(pthread_timedjoin_np);
PF_REAL(pthread_clockjoin_np);
PF_REAL(pthread_detach);
PF_REAL(pthread_cancel);
PF_REAL(pthread_setname_np);

constinit pthread_key_t g_key = 0;
constinit int g_key_state = 0;  // 0 none, 1 being made, 2 there

// Destructors of other keys may run after ours in a round, and make their keys anew: the last round is ours.
void at_thread_exit(void* rounds_left) {
  const auto rounds = reinterpret_cast<uintptr_t>(rounds_left);
  if (rounds > 1) {
    pthread_setspecific(g_key, reinterpret_cast<void*>(rounds - 1));
    return;
  }
  if (self == nullptr) return;
  leave_thread();
  registry::end(*self);
}

struct Start {
  void* (*function)(void*);
  void* argument;
  Thread* thread;
  int begun;  // set by the child: its handle is known, and the parent may go on
};

void* run_thread(void* p) {
  auto& start = *static_cast<Start*>(p);
  void* (*function)(void*) = start.function;
  void* argument = start.argument;
  registry::begin(*start.thread);
  end_at_thread_exit();
  __atomic_store_n(&start.begun, 1, __ATOMIC_RELEASE);
  sys::call_on(SYS_futex, &start.begun, FUTEX_WAKE_PRIVATE, 1);
  library::begin_thread(*self, reinterpret_cast<uintptr_t>(function), reinterpret_cast<uintptr_t>(argument));
  return function(argument);
}

Thread* announce(Thread& parent, uintptr_t return_address) {
  const planted::CallsAbove above(parent, return_address);
  return registry::announce(parent, return_address - 1);
}

bool wants_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

// `wait` is one of the ways to join; what a successful one ends is known only before it.
template <class Wait>
int join(Thread& t, Thread* child, pthread_t handle, Wait wait) {
  const int result = wait();
  if (result == 0 && child != nullptr) registry::joined(t, child, handle);
  return result;
}
template <class Wait>
int join(pthread_t handle, Wait wait) {
  Thread* t = current();
  return t == nullptr ? wait() : join(*t, registry::by_handle(handle), handle, wait);
}
// Until the child's end, or this thread is cancelled.
template <class Wait>
int join_at_last(pthread_t handle, Wait wait) {
  struct Joining {
    Thread& t;
    ~Joining() {
      sleep::end_join(t);
      rest::end_join(t);
    }
  };
  Thread* t = current();
  if (t == nullptr) return wait();
  Thread* child = registry::by_handle(handle);
  rest::begin_join(*t, child);
  if (child != nullptr) sleep::begin_join(*t, *child->info);
  const Joining until_here{*t};
  return join(*t, child, handle, wait);
}

}  // namespace

namespace pf::rt {

void end_at_thread_exit() {
  int state = 0;
  if (__atomic_compare_exchange_n(&g_key_state, &state, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    pthread_key_create(&g_key, &at_thread_exit);
    __atomic_store_n(&g_key_state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&g_key_state, __ATOMIC_ACQUIRE) != 2) sys::yield();
  pthread_setspecific(g_key, reinterpret_cast<void*>(uintptr_t{PTHREAD_DESTRUCTOR_ITERATIONS}));
}

}  // namespace pf::rt

PF_EXPORT int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*function)(void*),
                             void* argument) noexcept {
  Thread* t = current();
  if (t == nullptr) return real_pthread_create(handle, attributes, function, argument);
  Thread* child = announce(*t, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  child->info->detached = wants_detached(attributes);
  child->info->type = carisma::thread_type(reinterpret_cast<uintptr_t>(function), child->info->created_at);
  Start start{function, argument, child, 0};
  const int result = real_pthread_create(handle, attributes, &run_thread, &start);
  if (result != 0) {
    registry::forget_announced(*child);
    return result;
  }
  while (__atomic_load_n(&start.begun, __ATOMIC_ACQUIRE) == 0)
    sys::call_on(SYS_futex, &start.begun, FUTEX_WAIT_PRIVATE, 0);
  return 0;
}

PF_EXPORT int pthread_join(pthread_t handle, void** result) {
  return join_at_last(handle, [&] { return real_pthread_join(handle, result); });
}
PF_EXPORT int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  return join(handle, [&] { return real_pthread_tryjoin_np(handle, result); });
}
PF_EXPORT int pthread_timedjoin_np(pthread_t handle, void** result, const timespec* until) {
  return join(handle, [&] { return real_pthread_timedjoin_np(handle, result, until); });
}
PF_EXPORT int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock, const timespec* until) {
  return join(handle, [&] { return real_pthread_clockjoin_np(handle, result, clock, until); });
}

PF_EXPORT int pthread_detach(pthread_t handle) noexcept {
  Thread* child = current() != nullptr ? registry::by_handle(handle) : nullptr;
  if (child != nullptr) registry::detached(*current(), handle);
  return real_pthread_detach(handle);
}

// Who is cancelled in its sleep was told by nobody what it would have waited for.
PF_EXPORT int pthread_cancel(pthread_t handle) {
  past::count_on_nobody();
  return real_pthread_cancel(handle);
}

PF_EXPORT int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  const int result = real_pthread_setname_np(handle, name);
  if (result != 0 || current() == nullptr) return result;
  if (Thread* named = registry::by_handle(handle); named != nullptr) registry::set_name(*named, name);
  return result;
}
