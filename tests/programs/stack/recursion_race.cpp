// After a hundred thousand frames and back, the stack of a report has the right depth.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared, steps[2];  // CHECK: race: write-write on global shared of 4 bytes

__attribute__((noinline)) static int descend(int depth, int* counter) {
  ++*counter;
  if (depth == 0) return 0;
  int below = descend(depth - 1, counter);
  use(below);
  return below + 1;
}

int main() {
  in_turn(
      [] {
        use(descend(100000, &steps[0]));
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        use(descend(100000, &steps[1]));
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK-NOT: descend
