// A write, then a free in another thread that nothing orders after it: the free counts as a write to the whole block.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>

int* block;
// CHECK: race: write-free on {{(freed )?}}heap block of 40 bytes
int main() {
  block = static_cast<int*>(malloc(40));
  use(block);
  in_turn([] { block[9] = 1; },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { free(block); });  // CHECK: [[FILE]]:[[#@LINE]]
}
