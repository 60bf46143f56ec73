// Creation orders only what came before it: a write of the creator after pthread_create races with the thread.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-read on global shared of 4 bytes

// CHECK: first {{ *}}write of 4 bytes by main thread
// CHECK: second {{ *}}read {{ *}}of 4 bytes by thread 1
static void* work(void*) {
  order_wait(1);
  use(shared);  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  shared = 1;
  order_done(1);
  pthread_join(thread, nullptr);
}
