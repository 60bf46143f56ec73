// A write between the release fence and the store is not covered by the fence.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int before, after;  // CHECK: race: write-write on global after of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        before = 1;
        std::atomic_thread_fence(std::memory_order_release);
        after = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(1, std::memory_order_relaxed);
      },
      [] {
        int seen = ready.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (seen != 1) return;
        before = 2;
        after = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK-NOT: race:
