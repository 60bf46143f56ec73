// A stack that overflows is the program's own death, not a hang of the detector, and costs no report.
// RUN: %cxx -O1 %s -o %t && %exits 139 %run %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

volatile int depth;
__attribute__((noinline)) static int overflow(int n) {
  volatile int room[64];
  room[0] = n;
  depth = n;
  return overflow(n + 1) + room[0];
}

int main() {
  in_turn([] { shared = 1; }, [] { shared = 2; });
  return overflow(0);  // CHECK: ended early
}
