// A read, then a write in another thread: a detector that keeps only the last write would miss it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: read-write on global shared of 4 bytes

int main() {
  in_turn([] { use(shared); },  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { shared = 1; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
