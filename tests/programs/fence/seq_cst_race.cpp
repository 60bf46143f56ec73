// Two seq_cst fences around stores and loads of different variables: their total order is no happens-before.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// Under shb what a load saw comes before it: no reordering in which it sees the same has the two next to each other.
// RUN: %with shb %norace %t
// RUN: %with "djit generic" %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> x, y;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        x.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
      },
      [] {
        y.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (x.load(std::memory_order_relaxed) == 1) data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
