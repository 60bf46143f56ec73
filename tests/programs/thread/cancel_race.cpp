// The cleanup handler of a cancelled thread runs in that thread: its write races with one before the join.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <unistd.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes

static void clean_up(void*) {
  shared = 1;  // CHECK: #0 clean_up{{.*}}[[FILE]]:[[#@LINE]]
  order_done(2);
}
static void* work(void*) {
  pthread_cleanup_push(clean_up, nullptr);
  order_done(1);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  order_wait(1);
  pthread_cancel(thread);
  order_wait(2);
  use(shared);  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  pthread_join(thread, nullptr);
}
