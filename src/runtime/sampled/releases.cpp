// Synchronization of a program that is not instrumented, as far as clock races need it: a thread counts what it may release by, before it
// does. What it acquires does not matter (the asymmetric rule, watch/slots.h), so taking a lock costs nothing, and giving one up
// a few instructions. A free is one, too: the next owner of the memory comes after it.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/intercept/intercept.h"
#include "runtime/watch_host.h"

using namespace pf::rt;
using std::size_t;

[[gnu::always_inline]] static inline void tick() {
  if (Thread* t = self; t != nullptr) [[likely]]
    pf::watch::count(WatchHost::of(*t).clock);
}

// A function whose effect others may acquire.
#define PF_RELEASES(RESULT, NAME, PARAMETERS, ARGUMENTS, ...)                                                          \
  PF_REAL(NAME);                                                                                                       \
  PF_EXPORT RESULT NAME PARAMETERS __VA_ARGS__ {                                                                       \
    tick();                                                                                                            \
    return real_##NAME ARGUMENTS;                                                                                      \
  }

PF_RELEASES(int, pthread_mutex_unlock, (pthread_mutex_t * m), (m), noexcept)
PF_RELEASES(int, pthread_rwlock_unlock, (pthread_rwlock_t * l), (l), noexcept)
PF_RELEASES(int, pthread_spin_unlock, (pthread_spinlock_t * l), (l), noexcept)
PF_RELEASES(int, pthread_cond_signal, (pthread_cond_t * c), (c), noexcept)
PF_RELEASES(int, pthread_cond_broadcast, (pthread_cond_t * c), (c), noexcept)
PF_RELEASES(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
PF_RELEASES(int, pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t* m, const timespec* until), (c, m, until))
PF_RELEASES(int, pthread_cond_clockwait,
            (pthread_cond_t * c, pthread_mutex_t* m, clockid_t clock, const timespec* until), (c, m, clock, until))
PF_RELEASES(int, pthread_barrier_wait, (pthread_barrier_t * b), (b), noexcept)
PF_RELEASES(int, sem_post, (sem_t * s), (s), noexcept)

PF_RELEASES(int, mtx_unlock, (mtx_t * m), (m))
PF_RELEASES(int, cnd_signal, (cnd_t * c), (c))
PF_RELEASES(int, cnd_broadcast, (cnd_t * c), (c))
PF_RELEASES(int, cnd_wait, (cnd_t * c, mtx_t* m), (c, m))
PF_RELEASES(int, cnd_timedwait, (cnd_t * c, mtx_t* m, const timespec* until), (c, m, until))

PF_RELEASES(ssize_t, write, (int fd, const void* p, size_t n), (fd, p, n))
PF_RELEASES(ssize_t, writev, (int fd, const iovec* v, int n), (fd, v, n))
PF_RELEASES(ssize_t, send, (int fd, const void* p, size_t n, int flags), (fd, p, n, flags))
PF_RELEASES(ssize_t, sendto, (int fd, const void* p, size_t n, int flags, const sockaddr* to, socklen_t size),
            (fd, p, n, flags, to, size))
PF_RELEASES(ssize_t, sendmsg, (int fd, const msghdr* m, int flags), (fd, m, flags))
PF_RELEASES(int, eventfd_write, (int fd, eventfd_t value), (fd, value))
PF_RELEASES(int, close, (int fd), (fd))

PF_RELEASES(void, free, (void* p), (p), noexcept)
PF_RELEASES(void*, realloc, (void* p, size_t size), (p, size), noexcept)
PF_RELEASES(int, munmap, (void* p, size_t size), (p, size), noexcept)
