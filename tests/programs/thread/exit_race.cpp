// The end of a thread by pthread_exit orders nothing by itself.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

static void* work(void*) {
  shared = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  pthread_exit(nullptr);
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  order_wait(1);
  shared = 2;  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  pthread_join(thread, nullptr);
}
