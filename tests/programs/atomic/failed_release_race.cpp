// A compare_exchange that fails stores nothing and so releases nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        int expected = 5;
        ready.compare_exchange_strong(expected, 2);
      },
      [] {
        if (ready.load() == 0) data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
