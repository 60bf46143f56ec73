// main ends by pthread_exit while a thread goes on: the process ends with the last thread, with exit code 0.
// RUN: %cxx -O1 %s -o %t && %norace %t | %FileCheck %s
// CHECK: last
#include "order.h"
#include <stdio.h>

int shared;

static void* work(void*) {
  order_wait(1);
  shared++;
  puts("last");
  fflush(stdout);
  return nullptr;
}

int main() {
  shared = 1;
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_detach(thread);
  order_done(1);
  pthread_exit(nullptr);
}
