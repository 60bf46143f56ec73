// Exceptions leave frames by unwinding: after a thousand of them the stack of a report has the right depth.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

__attribute__((noinline)) static void fail(int depth) {
  if (depth == 0) throw depth;
  fail(depth - 1);
  use(depth);
}
__attribute__((noinline)) static void leaf(int value) {
  shared = value;
  use(value);
}
static void work() {
  for (int i = 0; i < 1000; i++) {
    try {
      fail(10);
    } catch (int) {
      use(i);
    }
  }
  leaf(1);
  use(0);
}
// CHECK: #0 leaf
// CHECK-NEXT: #1 work{{.*}}[[FILE]]:[[#@LINE-4]]
// CHECK-NEXT: #2 order_run
// CHECK-NOT: fail
int main() { in_turn(work, work); }
