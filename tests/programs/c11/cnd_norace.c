// C11 conditions: cnd_wait gives the mutex back and takes it again.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <threads.h>

int ready, shared;
mtx_t mutex;
cnd_t condition;

static void first(void) {
  mtx_lock(&mutex);
  order_done(1);
  while (!ready) cnd_wait(&condition, &mutex);
  shared++;
  ready = 0;
  cnd_signal(&condition);
  mtx_unlock(&mutex);
}
static void second(void) {
  struct timespec future = {1L << 40, 0};
  order_wait(1);
  mtx_lock(&mutex);
  shared = 1;
  ready = 1;
  cnd_broadcast(&condition);
  while (ready) cnd_timedwait(&condition, &mutex, &future);
  shared++;
  mtx_unlock(&mutex);
}

int main(void) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  together(first, second);
  cnd_destroy(&condition);
  mtx_destroy(&mutex);
  return shared - 3;
}
