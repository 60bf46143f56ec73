// A read, then a delete in another thread that nothing orders after it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int* block;
// CHECK: race: read-free on {{(freed )?}}heap block of 40 bytes
int main() {
  block = new int[10]();
  use(block);
  in_turn([] { use(block[9]); },    // CHECK: [[FILE]]:[[#@LINE]]
          [] { delete[] block; });  // CHECK: [[FILE]]:[[#@LINE]]
}
