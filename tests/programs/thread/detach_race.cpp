// A detached thread is never joined: what it wrote races even long after its end.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-read on global shared of 4 bytes

static void* work(void*) {
  shared = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_detach(thread);
  order_wait(1);
  use(shared);  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
}
