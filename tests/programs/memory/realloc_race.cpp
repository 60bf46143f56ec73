// realloc that moves a block frees the old one: that races with another thread's write to it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>

char* block;
// CHECK: race: write-{{free|read}} on {{.*}}heap block of 40 bytes
int main() {
  block = static_cast<char*>(malloc(40));
  use(block);
  in_turn([] { block[0] = 1; },                    // CHECK: [[FILE]]:[[#@LINE]]
          [] { use(realloc(block, 10000000)); });  // CHECK: [[FILE]]:[[#@LINE]]
}
