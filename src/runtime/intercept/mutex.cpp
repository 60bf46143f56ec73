// Mutexes, rwlocks and spinlocks of POSIX threads. A lock is told after it is taken, an unlock before it is given up: between the two
// nobody else can be at the lock's history.
#include <errno.h>
#include <pthread.h>

#include "runtime/found.h"
#include "runtime/intercept/intercept.h"
#include "runtime/options.h"

using namespace pf;
using namespace pf::rt;

namespace {

PF_REAL(pthread_mutex_destroy);
PF_REAL(pthread_mutex_lock);
PF_REAL(pthread_mutex_trylock);
PF_REAL(pthread_mutex_timedlock);
PF_REAL(pthread_mutex_clocklock);
PF_REAL(pthread_mutex_unlock);
PF_REAL(pthread_rwlock_destroy);
PF_REAL(pthread_rwlock_rdlock);
PF_REAL(pthread_rwlock_tryrdlock);
PF_REAL(pthread_rwlock_timedrdlock);
PF_REAL(pthread_rwlock_clockrdlock);
PF_REAL(pthread_rwlock_wrlock);
PF_REAL(pthread_rwlock_trywrlock);
PF_REAL(pthread_rwlock_timedwrlock);
PF_REAL(pthread_rwlock_clockwrlock);
PF_REAL(pthread_rwlock_unlock);
PF_REAL(pthread_spin_destroy);
PF_REAL(pthread_spin_lock);
PF_REAL(pthread_spin_trylock);
PF_REAL(pthread_spin_unlock);

int taken(int result, volatile void* lock, LockMode mode) {
  if (result != 0 && result != EOWNERDEAD) return result;  // a robust mutex whose owner died is taken all the same
  if (Thread* t = current(); t != nullptr) lock_taken(*t, address_of(lock), mode);
  return result;
}

// A mutex that checks refuses to be unlocked by others than its owner; then nothing is released.
bool will_refuse(const pthread_mutex_t* m) {
  constexpr int kKinds = 3;
  const int kind = m->__data.__kind & kKinds;
  if (kind != PTHREAD_MUTEX_RECURSIVE && kind != PTHREAD_MUTEX_ERRORCHECK) return false;
  const Thread* t = current();
  return t != nullptr && held_as(*t, address_of(m)) == nullptr;
}

void giving_up(volatile void* lock, uintptr_t pc) {
  if (Thread* t = current(); t != nullptr) lock_given_up(*t, address_of(lock), pc);
}

void destroyed(volatile void* lock, uintptr_t pc) {
  Thread* t = current();
  if (t == nullptr) return;
  if (held_as(*t, address_of(lock)) != nullptr && g_options.report_destroy_locked) {
    misuse(*t, "destroy of a locked mutex", address_of(lock), pc);
  }
  host::forget_object(*t, address_of(lock));
}

}  // namespace

namespace pf::rt {

void lock_taken(Thread& t, uintptr_t lock, LockMode mode) {
  const Scope scope(t);
  host::acquire(t, lock, mode);
  hold(t, lock, mode);
}

void lock_given_up(Thread& t, uintptr_t lock, uintptr_t pc) {
  const Scope scope(t);
  const Held* held = held_as(t, lock);
  const LockMode mode = held != nullptr ? held->mode : LockMode::Write;
  host::release(t, lock, mode);
  if (!let_go(t, lock, mode) && g_options.report_mutex_bugs) {
    misuse(t, "unlock of a mutex that this thread does not hold", lock, pc);
  }
}

}  // namespace pf::rt

PF_EXPORT int pthread_mutex_destroy(pthread_mutex_t* m) noexcept {
  const int result = real_pthread_mutex_destroy(m);
  if (result == 0 || result == EBUSY) destroyed(m, PF_CALLER_PC);
  return result;
}
PF_EXPORT int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  return taken(real_pthread_mutex_lock(m), m, LockMode::Write);
}
PF_EXPORT int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  return taken(real_pthread_mutex_trylock(m), m, LockMode::Write);
}
PF_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  return taken(real_pthread_mutex_timedlock(m, until), m, LockMode::Write);
}
PF_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) noexcept {
  return taken(real_pthread_mutex_clocklock(m, clock, until), m, LockMode::Write);
}
PF_EXPORT int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  if (!will_refuse(m)) giving_up(m, PF_CALLER_PC);
  return real_pthread_mutex_unlock(m);
}

PF_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* l) noexcept {
  destroyed(l, PF_CALLER_PC);
  return real_pthread_rwlock_destroy(l);
}
PF_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept {
  return taken(real_pthread_rwlock_rdlock(l), l, LockMode::Read);
}
PF_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
  return taken(real_pthread_rwlock_tryrdlock(l), l, LockMode::Read);
}
PF_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return taken(real_pthread_rwlock_timedrdlock(l, until), l, LockMode::Read);
}
PF_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) noexcept {
  return taken(real_pthread_rwlock_clockrdlock(l, clock, until), l, LockMode::Read);
}
PF_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept {
  return taken(real_pthread_rwlock_wrlock(l), l, LockMode::Write);
}
PF_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
  return taken(real_pthread_rwlock_trywrlock(l), l, LockMode::Write);
}
PF_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return taken(real_pthread_rwlock_timedwrlock(l, until), l, LockMode::Write);
}
PF_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) noexcept {
  return taken(real_pthread_rwlock_clockwrlock(l, clock, until), l, LockMode::Write);
}
PF_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  giving_up(l, PF_CALLER_PC);
  return real_pthread_rwlock_unlock(l);
}

PF_EXPORT int pthread_spin_destroy(pthread_spinlock_t* l) noexcept {
  destroyed(l, PF_CALLER_PC);
  return real_pthread_spin_destroy(l);
}
PF_EXPORT int pthread_spin_lock(pthread_spinlock_t* l) noexcept {
  return taken(real_pthread_spin_lock(l), l, LockMode::Write);
}
PF_EXPORT int pthread_spin_trylock(pthread_spinlock_t* l) noexcept {
  return taken(real_pthread_spin_trylock(l), l, LockMode::Write);
}
PF_EXPORT int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  giving_up(l, PF_CALLER_PC);
  return real_pthread_spin_unlock(l);
}
