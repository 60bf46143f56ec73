// Writers under the write side, readers under the read side, by every way to get the lock.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sched.h>
#include <time.h>

int shared, faults;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static const timespec future = {1L << 40, 0};

static void work() {
  for (int i = 0; i < 10; i++) {
    pthread_rwlock_wrlock(&lock);
    shared++;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_rdlock(&lock);
    use(shared);
    pthread_rwlock_unlock(&lock);
    while (pthread_rwlock_trywrlock(&lock) != 0) sched_yield();
    shared++;
    pthread_rwlock_unlock(&lock);
    while (pthread_rwlock_tryrdlock(&lock) != 0) sched_yield();
    use(shared);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_timedwrlock(&lock, &future);
    shared++;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_timedrdlock(&lock, &future);
    use(shared);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_clockwrlock(&lock, CLOCK_REALTIME, &future);
    shared++;
    pthread_rwlock_unlock(&lock);
  }
}

int main() {
  together(work, work);
  return shared - 80;
}
