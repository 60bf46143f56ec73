// A thread waits for a lock while there is rest. Before it gets it, a period begins, and who had the lock is sampled: that is news by then.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0,period=1 %norace %t
#include <pthread.h>

#include "order.h"
#include "sampling/sampled.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int shared;

// As glibc says it of a mutex that somebody sleeps for.
INVISIBLE void wait_for_waiter() {
  constexpr int kIsAwaited = 2;
  for (int state = 0; state != kIsAwaited;) __asm__ volatile("movl %1, %0" : "=r"(state) : "m"(mutex) : "memory");
}

void has_lock() {
  pthread_mutex_lock(&mutex);
  order_done(1);
  wait_for_waiter();
  AnnotateSampling(__FILE__, __LINE__, 1);
  shared = 1;
  pthread_mutex_unlock(&mutex);
}

void waits() {
  order_wait(1);
  pthread_mutex_lock(&mutex);
  ++shared;
  pthread_mutex_unlock(&mutex);
}

int main() {
  together(&has_lock, &waits);
  return shared == 2 ? 0 : 1;
}
