// The old __sync builtins are sequentially consistent; a lock made of them orders.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <sched.h>

int data, lock;

static void work(void) {
  for (int i = 0; i < 20; i++) {
    while (!__sync_bool_compare_and_swap(&lock, 0, 1)) sched_yield();
    data++;
    __sync_fetch_and_sub(&lock, 1);
  }
}

int main(void) {
  together(work, work);
  return data - 40;
}
