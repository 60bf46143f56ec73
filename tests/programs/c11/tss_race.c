// The destructor of C11 thread-specific storage runs in the ending thread: its write races with one before the join.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <threads.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
tss_t key;

static void destroy(void* value) {
  *(int*)value = 1;  // CHECK: #0 destroy {{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
}
static int work(void* unused) {
  (void)unused;
  return tss_set(key, &shared);
}

int main(void) {
  thrd_t thread;
  tss_create(&key, destroy);
  thrd_create(&thread, work, NULL);
  order_wait(1);
  use(shared);  // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  thrd_join(thread, NULL);
}
