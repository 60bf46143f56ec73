// Since C++20 even a relaxed store of the releasing thread itself ends its release sequence.
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
        ready.store(1, std::memory_order_release);
        ready.store(2, std::memory_order_relaxed);
      },
      [] {
        if (ready.load(std::memory_order_acquire) == 2) data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
