// A race five hundred frames deep: the report gets to the bottom of the stack.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

// CHECK: #0 descend
// CHECK: #200 descend
__attribute__((noinline)) static void descend(int depth) {
  if (depth == 0)
    shared = 1;
  else
    descend(depth - 1);
  use(depth);
}
static void work() {
  descend(500);
  use(0);
}

int main() { in_turn(work, work); }
