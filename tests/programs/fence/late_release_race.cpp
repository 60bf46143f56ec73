// The release fence comes after the store: it covers later stores only.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
      },
      [] {
        int seen = ready.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (seen == 1) data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
