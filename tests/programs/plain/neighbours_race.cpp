// Four threads' worth of bytes in one word, and one pair of them the same: found although its neighbours are private.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

alignas(8) char bytes[8];  // CHECK: race: write-write on global bytes of 8 bytes at offset 6

int main() {
  in_turn(
      [] {
        bytes[0] = 1;
        bytes[4] = 1;
        bytes[6] = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        bytes[1] = 2;
        bytes[5] = 2;
        bytes[6] = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK-NOT: race:
