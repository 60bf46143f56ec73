// C11 mutexes of every kind, locked, tried and waited for with a time limit.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <threads.h>

int shared;
mtx_t mutex;

static void work(void) {
  struct timespec future = {1L << 40, 0};
  for (int i = 0; i < 10; i++) {
    mtx_lock(&mutex);
    mtx_lock(&mutex);
    shared++;
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
    while (mtx_trylock(&mutex) != thrd_success) thrd_yield();
    shared++;
    mtx_unlock(&mutex);
    mtx_timedlock(&mutex, &future);
    shared++;
    mtx_unlock(&mutex);
  }
}

int main(void) {
  mtx_init(&mutex, mtx_timed | mtx_recursive);
  together(work, work);
  mtx_destroy(&mutex);
  return shared - 60;
}
