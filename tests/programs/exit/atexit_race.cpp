// A handler of atexit races with a thread that was never joined.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes

static void* work(void*) {
  shared = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  return nullptr;
}
static void at_exit() {
  use(shared);  // CHECK: #0 at_exit{{.*}}[[FILE]]:[[#@LINE]]
}

int main() {
  atexit(at_exit);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_detach(thread);
  order_wait(1);
}
