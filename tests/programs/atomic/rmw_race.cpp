// Every read-modify-write with relaxed order hands nothing over.
// RUN: %cxx -O1 -DCALL="fetch_add(3,order)" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="fetch_sub(3,order)" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="fetch_and(3,order)" %s -o %t3 && %race %t3 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="fetch_or(3,order)" %s -o %t4 && %race %t4 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="fetch_xor(3,order)" %s -o %t5 && %race %t5 | %FileCheck %s
// RUN: %cxx -O1 -DCALL="exchange(3,order)" %s -o %t6 && %race %t6 | %FileCheck %s
#include "order.h"
#include <atomic>

constexpr auto order = std::memory_order_relaxed;
int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> ready(5);

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.CALL;
      },
      [] {
        ready.fetch_add(0, std::memory_order_acq_rel);
        data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
