// The report tells where each thread was created and by whom, over two generations.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

static void* grandchild(void*) {
  shared = 1;
  order_done(1);
  return nullptr;
}
static void* child(void*) {
  pthread_t thread;
  pthread_create(&thread, nullptr, grandchild, nullptr);
  pthread_join(thread, nullptr);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, child, nullptr);
  order_wait(1);
  shared = 2;
  pthread_join(thread, nullptr);
}
// CHECK: thread 2{{.*}} created by thread 1
// CHECK: child{{.*}}[[FILE]]:[[#@LINE-13]]
