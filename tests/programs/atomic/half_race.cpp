// Only one side of the handshake has an order: a release that nobody acquires, and an acquire of what nobody released.
// RUN: %cxx -O1 -DSTORE=release -DLOAD=relaxed %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DSTORE=relaxed -DLOAD=acquire %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DSTORE=relaxed -DLOAD=seq_cst %s -o %t3 && %race %t3 | %FileCheck %s
// RUN: %cxx -O1 -DSTORE=seq_cst -DLOAD=relaxed %s -o %t4 && %race %t4 | %FileCheck %s
#include "order.h"
#include <atomic>

#define ORDER(name) ORDER_OF(name)
#define ORDER_OF(name) std::memory_order_##name

int data;  // CHECK: race: write-read on global data of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(1, ORDER(STORE));
      },
      [] {
        if (ready.load(ORDER(LOAD)) == 1) use(data);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
