// A write after count_down is not ordered before who waits at the latch.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <latch>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
std::latch latch(1);

int main() {
  in_turn(
      [] {
        latch.count_down();
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        latch.wait();
        use(shared);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
