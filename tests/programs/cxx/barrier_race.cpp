// Two writes in the same round of a std::barrier are not ordered. Neither goes on to the next round before
// both have written: who enters libstdc++'s wait and who still leaves it meet in an atomic count, which
// would order the writes.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <barrier>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
std::barrier barrier(2);

int main() {
  together(
      [] {
        barrier.arrive_and_wait();
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
        barrier.arrive_and_wait();
      },
      [] {
        barrier.arrive_and_wait();
        order_wait(1);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
        barrier.arrive_and_wait();
      });
}
