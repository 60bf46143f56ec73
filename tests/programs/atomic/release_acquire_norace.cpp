// Publication by a flag, in every pair of orders that synchronizes.
// RUN: %cxx -O1 -DSTORE=release -DLOAD=acquire %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DSTORE=seq_cst -DLOAD=seq_cst %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DSTORE=release -DLOAD=consume %s -o %t3 && %norace %t3
// RUN: %cxx -O1 -DSTORE=seq_cst -DLOAD=acquire %s -o %t4 && %norace %t4
#include "order.h"
#include <atomic>
#include <sched.h>

#define ORDER(name) ORDER_OF(name)
#define ORDER_OF(name) std::memory_order_##name

int data;
std::atomic<int> ready;

int main() {
  together(
      [] {
        data = 1;
        ready.store(1, ORDER(STORE));
      },
      [] {
        while (ready.load(ORDER(LOAD)) == 0) sched_yield();
        data++;
      });
  return data - 2;
}
