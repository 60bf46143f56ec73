// C11 threads: creation and join order, thrd_exit hands over its code, and a detached thread uses a mutex.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <threads.h>

int shared;
mtx_t mutex;

static int work(void* amount) {
  shared += *(int*)amount;
  thrd_exit(5);
}
static int apart(void* unused) {
  (void)unused;
  mtx_lock(&mutex);
  shared++;
  mtx_unlock(&mutex);
  order_done(1);
  return 0;
}

int main(void) {
  int amount = 2, code = 0;
  thrd_t thread;
  thrd_create(&thread, work, &amount);
  thrd_join(thread, &code);
  amount += shared;
  mtx_init(&mutex, mtx_plain);
  thrd_create(&thread, apart, NULL);
  thrd_detach(thread);
  order_wait(1);
  mtx_lock(&mutex);
  shared++;
  mtx_unlock(&mutex);
  return code == 5 && amount == 4 && shared == 4 ? 0 : 1;
}
