// Mutexes, rwlocks and spinlocks of POSIX threads. A lock is told after it is taken, an unlock before it is given up: between the two
// nobody else can be at the lock's history.
#include <errno.h>
#include <pthread.h>

#include <type_traits>

#include "runtime/found.h"
#include "runtime/intercept/intercept.h"
#include "runtime/intercept/lock_memory.h"
#include "runtime/options.h"
#include "runtime/this_detector.h"

using namespace pf;
using namespace pf::rt;

namespace {

PF_REAL(pthread_mutex_init);
PF_REAL(pthread_mutex_destroy);
PF_REAL(pthread_mutex_lock);
PF_REAL(pthread_mutex_trylock);
PF_REAL(pthread_mutex_timedlock);
PF_REAL(pthread_mutex_clocklock);
PF_REAL(pthread_mutex_unlock);
PF_REAL(pthread_rwlock_init);
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
PF_REAL(pthread_spin_init);
PF_REAL(pthread_spin_destroy);
PF_REAL(pthread_spin_lock);
PF_REAL(pthread_spin_trylock);
PF_REAL(pthread_spin_unlock);

template <class Lock>
int made(int result, Lock* lock, uintptr_t pc) {
  if (Thread* t = current(); result == 0 && t != nullptr) lock_memory::made_or_gone(*t, lock, pc);
  return result;
}

// A robust mutex whose owner died is taken all the same.
bool is_taken(int result) { return result == 0 || result == EOWNERDEAD; }

// It was not taken. What destroying leaves in a mutex makes glibc refuse to lock it.
template <class Lock>
[[gnu::noinline, gnu::cold]] int refused(int result, Thread& t, const Lock* lock, uintptr_t pc) {
  if constexpr (std::is_same_v<Lock, pthread_mutex_t>) {
    if (result == EINVAL && lock->__data.__kind == -1 && g_options.report_mutex_bugs)
      misuse(t, "use of a destroyed mutex", address_of(lock), pc);
  }
  return result;
}

// `real` takes the lock, or fails.
template <class Lock, class Real>
[[gnu::noinline]] int take_and_tell(Lock* lock, LockMode mode, uintptr_t pc, Real real) {
  Thread* t = current();
  if (t == nullptr || t->inside != 0) return real();
  lock_memory::about_to_use(*t, lock, pc);
  const int result = real();
  if (!is_taken(result)) return refused(result, *t, lock, pc);
  lock_taken(*t, address_of(lock), mode, pc);
  lock_memory::used(*t, lock, pc);
  return result;
}

// The thread, where a lock is to the host no more than the order it makes: what its memory has seen does not matter. Null where it does.
template <class H>
Thread* synchronizing_thread(uintptr_t lock, uintptr_t used, uintptr_t pc) {
  if constexpr (requires(Thread& t) { H::is_mere_order(t, lock, used, pc); }) {
    Thread* t = self;
    return t != nullptr && t->inside == 0 && H::is_mere_order(*t, lock, used, pc) ? t : nullptr;
  }
  return nullptr;
}
// Whether that is told already.
template <class H>
bool acquired_at_once(Thread& t, uintptr_t lock, LockMode mode) {
  if constexpr (requires { H::acquired_at_once(t, lock, mode); }) return H::acquired_at_once(t, lock, mode);
  return false;
}
template <class H>
bool released_at_once(Thread& t, uintptr_t lock, LockMode mode) {
  if constexpr (requires { H::released_at_once(t, lock, mode); }) return H::released_at_once(t, lock, mode);
  return false;
}

// The same at rest (rest.h), which is found out sooner, and is mostly so where there is rest at all: the lock is no more than one that is held.
template <class H>
inline constexpr bool kRests = requires(Thread& t, uintptr_t lock) { H::is_at_rest(t, lock); };
template <class H>
Thread* resting_thread(uintptr_t lock) {
  if constexpr (kRests<H>) {
    Thread* t = self;
    return t != nullptr && t->inside == 0 && H::is_at_rest(*t, lock) ? t : nullptr;
  }
  return nullptr;
}
template <class H>
bool is_still_resting(Thread& t) {
  if constexpr (kRests<H>) return H::has_passed_at_rest(t);
  return false;
}

// Called last, so that the usual way saves few registers.
template <class Lock>
[[gnu::noinline]] int tell_if_taken(int result, Thread& t, Lock* lock, LockMode mode, uintptr_t pc) {
  if (!is_taken(result)) return refused(result, t, lock, pc);
  lock_taken(t, address_of(lock), mode, pc);
  lock_memory::used(t, lock, pc);
  return result;
}

template <class Lock, class Real>
[[gnu::always_inline]] inline int take_in_order(Lock* lock, LockMode mode, uintptr_t pc, Real real) {
  Thread* t = synchronizing_thread<Host>(address_of(lock), lock_memory::first_use_of(lock), pc);
  if (t == nullptr) [[unlikely]]
    return take_and_tell(lock, mode, pc, real);
  const int result = real();
  if (result != 0 || !may_hold_alone(*t) || !acquired_at_once<Host>(*t, address_of(lock), mode)) [[unlikely]]
    return tell_if_taken(result, *t, lock, mode, pc);
  hold_alone(*t, address_of(lock), mode);
  return 0;
}
template <class Lock, class Real>
[[gnu::noinline]] int take_without_rest(Lock* lock, LockMode mode, uintptr_t pc, Real real) {
  return take_in_order(lock, mode, pc, real);
}

template <class Lock, class Real>
[[gnu::always_inline]] inline int take(Lock* lock, LockMode mode, uintptr_t pc, Real real) {
  if constexpr (!kRests<Host>) return take_in_order(lock, mode, pc, real);
  Thread* t = resting_thread<Host>(address_of(lock));
  if (t == nullptr) [[unlikely]]
    return take_without_rest(lock, mode, pc, real);
  const int result = real();
  if (result != 0 || !may_hold_alone(*t) || !is_still_resting<Host>(*t)) [[unlikely]]
    return tell_if_taken(result, *t, lock, mode, pc);
  hold_alone(*t, address_of(lock), mode);
  return 0;
}

// A mutex that checks refuses to be unlocked by others than its owner; then nothing is released.
bool will_refuse(const pthread_mutex_t* m) {
  constexpr int kKinds = 3;
  const int kind = m->__data.__kind & kKinds;
  if (kind != PTHREAD_MUTEX_RECURSIVE && kind != PTHREAD_MUTEX_ERRORCHECK) return false;
  const Thread* t = current();
  return t != nullptr && held_as(*t, address_of(m)) == nullptr;
}

template <class Lock>
[[gnu::noinline]] void tell_of_giving_up(Lock* lock, uintptr_t pc) {
  Thread* t = current();
  if (t == nullptr || t->inside != 0) return;
  lock_memory::used(*t, lock, pc);
  lock_given_up(*t, address_of(lock), pc);
}

template <class Lock>
[[gnu::always_inline]] inline void giving_up_in_order(Lock* lock, uintptr_t pc) {
  const uintptr_t address = address_of(lock);
  Thread* t = synchronizing_thread<Host>(address, address, pc);
  if (t == nullptr || !is_held_alone(*t, address) || !released_at_once<Host>(*t, address, t->held[0].mode))
    return tell_of_giving_up(lock, pc);
  let_go_alone(*t);
}
template <class Lock>
[[gnu::noinline]] void giving_up_without_rest(Lock* lock, uintptr_t pc) {
  giving_up_in_order(lock, pc);
}

// Whether there is nothing more to it: the thread holds no other lock, and rests.
[[gnu::always_inline]] inline bool gave_up_at_rest(uintptr_t lock) {
  Thread* t = resting_thread<Host>(lock);
  if (t == nullptr || !is_held_alone(*t, lock) || !is_still_resting<Host>(*t)) return false;
  let_go_alone(*t);
  return true;
}
template <class Lock>
[[gnu::always_inline]] inline void giving_up(Lock* lock, uintptr_t pc) {
  if constexpr (!kRests<Host>) return giving_up_in_order(lock, pc);
  if (!gave_up_at_rest(address_of(lock))) [[unlikely]]
    giving_up_without_rest(lock, pc);
}

template <class Lock>
void destroying(Lock* lock, uintptr_t pc) {
  Thread* t = current();
  if (t == nullptr) return;
  if (held_as(*t, address_of(lock)) != nullptr && g_options.report_destroy_locked) {
    misuse(*t, "destroy of a locked mutex", address_of(lock), pc);
  }
  lock_memory::made_or_gone(*t, lock, pc);
}

// Not while a refusal is possible: what still lives keeps its history.
template <class Lock>
int destroyed(int result, Lock* lock) {
  if (Thread* t = current(); result == 0 && t != nullptr) host::forget_object(*t, address_of(lock));
  return result;
}

}  // namespace

namespace pf::rt {

void lock_taken(Thread& t, uintptr_t lock, LockMode mode, uintptr_t pc) {
  const Scope scope(t);
  const CalledAt here(pc);
  host::acquire(t, lock, mode);
  hold(t, lock, mode);
}

void lock_given_up(Thread& t, uintptr_t lock, uintptr_t pc) {
  const Scope scope(t);
  const CalledAt here(pc);
  const Held* held = held_as(t, lock);
  const LockMode mode = held != nullptr ? held->mode : LockMode::Write;
  host::release(t, lock, mode);
  if (!let_go(t, lock, mode) && g_options.report_mutex_bugs) {
    misuse(t, "unlock of a mutex that this thread does not hold", lock, pc);
  }
}

}  // namespace pf::rt

PF_EXPORT int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) noexcept {
  return made(real_pthread_mutex_init(m, attributes), m, PF_CALLER_PC);
}
PF_EXPORT int pthread_mutex_destroy(pthread_mutex_t* m) noexcept {
  destroying(m, PF_CALLER_PC);
  return destroyed(real_pthread_mutex_destroy(m), m);
}
PF_EXPORT int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  return take(m, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_mutex_lock(m); });
}
PF_EXPORT int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  return take(m, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_mutex_trylock(m); });
}
PF_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  return take(m, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_mutex_timedlock(m, until); });
}
PF_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) noexcept {
  return take(m, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_mutex_clocklock(m, clock, until); });
}
PF_EXPORT int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  if (!gave_up_at_rest(address_of(m)) && !will_refuse(m)) [[unlikely]]
    giving_up_in_order(m, PF_CALLER_PC);
  return real_pthread_mutex_unlock(m);
}

PF_EXPORT int pthread_rwlock_init(pthread_rwlock_t* l, const pthread_rwlockattr_t* attributes) noexcept {
  return made(real_pthread_rwlock_init(l, attributes), l, PF_CALLER_PC);
}
PF_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* l) noexcept {
  destroying(l, PF_CALLER_PC);
  return destroyed(real_pthread_rwlock_destroy(l), l);
}
PF_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept {
  return take(l, LockMode::Read, PF_CALLER_PC, [=] { return real_pthread_rwlock_rdlock(l); });
}
PF_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
  return take(l, LockMode::Read, PF_CALLER_PC, [=] { return real_pthread_rwlock_tryrdlock(l); });
}
PF_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return take(l, LockMode::Read, PF_CALLER_PC, [=] { return real_pthread_rwlock_timedrdlock(l, until); });
}
PF_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) noexcept {
  return take(l, LockMode::Read, PF_CALLER_PC, [=] { return real_pthread_rwlock_clockrdlock(l, clock, until); });
}
PF_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept {
  return take(l, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_rwlock_wrlock(l); });
}
PF_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
  return take(l, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_rwlock_trywrlock(l); });
}
PF_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return take(l, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_rwlock_timedwrlock(l, until); });
}
PF_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) noexcept {
  return take(l, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_rwlock_clockwrlock(l, clock, until); });
}
PF_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  giving_up(l, PF_CALLER_PC);
  return real_pthread_rwlock_unlock(l);
}

PF_EXPORT int pthread_spin_init(pthread_spinlock_t* l, int shared) noexcept {
  return made(real_pthread_spin_init(l, shared), l, PF_CALLER_PC);
}
PF_EXPORT int pthread_spin_destroy(pthread_spinlock_t* l) noexcept {
  destroying(l, PF_CALLER_PC);
  return destroyed(real_pthread_spin_destroy(l), l);
}
PF_EXPORT int pthread_spin_lock(pthread_spinlock_t* l) noexcept {
  return take(l, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_spin_lock(l); });
}
PF_EXPORT int pthread_spin_trylock(pthread_spinlock_t* l) noexcept {
  return take(l, LockMode::Write, PF_CALLER_PC, [=] { return real_pthread_spin_trylock(l); });
}
PF_EXPORT int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  giving_up(l, PF_CALLER_PC);
  return real_pthread_spin_unlock(l);
}
