// A write, then a read in another thread: the kind names the earlier operation first.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-read on global shared of 4 bytes

int main() {
  in_turn([] { shared = 1; },    // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { use(shared); });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
