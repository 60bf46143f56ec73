// After ten thousand threads have come and gone, two more race: reused slots must not be taken for their old owners.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared, racy;  // CHECK: race: write-write on global racy of 4 bytes

static void* once(void*) {
  shared++;
  racy = 0;
  return nullptr;
}

int main() {
  for (int i = 0; i < 10000; i++) {
    pthread_t thread;
    pthread_create(&thread, nullptr, once, nullptr);
    pthread_join(thread, nullptr);
  }
  in_turn([] { racy = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { racy = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
// CHECK-NOT: race:
