// A block that one thread frees and another reads later, ordered by nothing: a race with the free.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>

int* block;
// CHECK: race: free-read on freed heap block of 40 bytes at offset 4
int main() {
  block = static_cast<int*>(malloc(40));
  use(block);
  in_turn([] { free(block); },     // CHECK: [[FILE]]:[[#@LINE]]
          [] { use(block[1]); });  // CHECK: [[FILE]]:[[#@LINE]]
}
