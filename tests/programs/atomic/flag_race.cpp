// A spinlock made of std::atomic_flag that is cleared with relaxed order.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic_flag lock;

int main() {
  in_turn(
      [] {
        lock.test_and_set(std::memory_order_acquire);
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        lock.clear(std::memory_order_relaxed);
      },
      [] {
        lock.test_and_set(std::memory_order_acquire);
        data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        lock.clear(std::memory_order_release);
      });
}
