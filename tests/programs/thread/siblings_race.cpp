// Joining one of two threads orders nothing of the other.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

static void* idle(void*) { return nullptr; }
static void* work(void*) {
  shared = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  return nullptr;
}

int main() {
  pthread_t one, two;
  pthread_create(&one, nullptr, work, nullptr);
  pthread_create(&two, nullptr, idle, nullptr);
  order_wait(1);
  pthread_join(two, nullptr);
  shared = 2;  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  pthread_join(one, nullptr);
}
