// An access in an inlined function: the report shows the function and who inlined it.
// RUN: %cxx -O2 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

__attribute__((always_inline)) static inline void innermost(int value) {
  shared = value;  // CHECK: #0 innermost{{.*}}[[FILE]]:[[#@LINE]]
}
static void outer() {
  innermost(1);  // CHECK-NEXT: #1 outer{{.*}}[[FILE]]:[[#@LINE]]
}

int main() { in_turn(outer, outer); }
