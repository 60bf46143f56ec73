// Death by a signal is kept when there is no race.
// RUN: %cxx -O1 -DDIE="abort()" %s -o %t1 && %exits 134 %run %t1 | %FileCheck --allow-empty %s
// RUN: %cxx -O1 -DDIE="raise(SIGTERM)" %s -o %t2 && %exits 143 %run %t2 | %FileCheck --allow-empty %s
// CHECK-NOT: race:
#include "order.h"
#include <signal.h>
#include <stdlib.h>

int shared;

int main() {
  in_turn([] { shared = 1; }, [] {});
  DIE;
}
