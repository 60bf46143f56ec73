// longjmp leaves frames without their exits: after a thousand jumps the stack of a report has the right depth.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <setjmp.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
jmp_buf back;

__attribute__((noinline)) static void jump(int depth) {
  if (depth == 0) longjmp(back, 1);
  jump(depth - 1);
  use(depth);
}
__attribute__((noinline)) static void leaf(int value) {
  shared = value;
  use(value);
}
static void work() {
  for (volatile int i = 0; i < 1000; i = i + 1) {
    if (setjmp(back) == 0) jump(10);
  }
  leaf(1);
  use(0);
}
// CHECK: #0 leaf
// CHECK-NEXT: #1 {{(work|__invoke).*}}[[FILE]]:[[#@LINE-4]]
// CHECK-NEXT: #2 order_run
// CHECK-NOT: jump
int main() { in_turn(work, work); }
