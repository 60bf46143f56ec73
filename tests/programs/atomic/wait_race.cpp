// std::atomic wait with relaxed order acquires nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(1, std::memory_order_release);
        ready.notify_all();
      },
      [] {
        ready.wait(0, std::memory_order_relaxed);
        data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
