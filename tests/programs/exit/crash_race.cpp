// A program that dies by a signal after its race: the report survives and the death is kept.
// RUN: %cxx -O1 -DDIE="abort()" %s -o %t1 && %exits 134 %run %t1 | %FileCheck %s
// RUN: %cxx -O1 -DDIE="use(*bad)" %s -o %t2 && %exits 139 %run %t2 | %FileCheck %s
// RUN: %cxx -O1 -DDIE="kill(getpid(),SIGKILL)" %s -o %t3 && %exits 137 %run %t3 | %FileCheck %s
#include "order.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
[[maybe_unused]] int* volatile bad;

int main() {
  in_turn([] { shared = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { shared = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  DIE;
}
