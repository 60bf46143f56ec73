// atomic_signal_fence orders a thread with its own signal handlers, not with other threads.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// Under shb what a load saw comes before it: no reordering in which it sees the same has the two next to each other.
// RUN: %with shb %norace %t
// RUN: %with "djit generic" %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        std::atomic_signal_fence(std::memory_order_release);
        ready.store(1, std::memory_order_relaxed);
      },
      [] {
        int seen = ready.load(std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_acquire);
        if (seen == 1) data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
