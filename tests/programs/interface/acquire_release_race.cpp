// __tsan_release and __tsan_acquire on different addresses order nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

int shared, channel[2];  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn(
      [] {
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        __tsan_release(&channel[0]);
      },
      [] {
        __tsan_acquire(&channel[1]);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
