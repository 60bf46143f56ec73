// exitcode= sets the exit code of a run with a race; 0 keeps the program's own.
// RUN: %cxx -O1 %s -o %t
// RUN: env PHOTOFINISH_OPTIONS=exitcode=5 %exits 5 %run %t | %FileCheck %s
// RUN: env PHOTOFINISH_OPTIONS=exitcode=0 %exits 3 %run %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn([] { shared = 1; }, [] { shared = 2; });
  return 3;
}
