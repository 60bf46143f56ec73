// A heap block: the report gives its size, the offset, and where it was allocated.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>

int* block;
// CHECK: race: write-read on heap block of 40 bytes at offset 8
int main() {
  block = static_cast<int*>(malloc(40));
  use(block);
  in_turn([] { block[2] = 1; },    // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { use(block[2]); });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  free(block);
}
// CHECK: allocated by main thread
// CHECK: main {{.*}}[[FILE]]:[[#@LINE-7]]
