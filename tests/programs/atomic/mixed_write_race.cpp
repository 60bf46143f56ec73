// A plain write, then an atomic read-modify-write in another thread.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int counter;  // CHECK: race: write-write on global counter of 4 bytes

int main() {
  in_turn([] { counter = 1; },                                         // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST); });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
