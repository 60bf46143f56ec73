// Publication by a relaxed flag: the flag itself is no race, what it should publish is.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// Under shb what a load saw comes before it: no reordering in which it sees the same has the two next to each other.
// RUN: %with shb %norace %t
// RUN: %with djit %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-read on global data of 4 bytes
std::atomic<bool> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(true, std::memory_order_relaxed);
      },
      [] {
        if (ready.load(std::memory_order_relaxed)) use(data);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK-NOT: race:
