// C11 threads: thrd_create orders what came before it, and nothing else does.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <threads.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes

static int work(void* unused) {
  (void)unused;
  shared = 1;  // CHECK: #0 work {{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  return 0;
}

int main(void) {
  thrd_t thread;
  thrd_create(&thread, work, NULL);
  order_wait(1);
  use(shared);  // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  thrd_join(thread, NULL);
}
