// _exit and quick_exit skip everything: the report is there all the same.
// RUN: %cxx -O1 -DEXIT=_exit %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DEXIT=quick_exit %s -o %t2 && %race %t2 | %FileCheck %s
#include "order.h"
#include <stdlib.h>
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn([] { shared = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { shared = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  EXIT(0);
}
