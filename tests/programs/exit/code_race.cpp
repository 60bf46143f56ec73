// With a race the exit code is 66, whatever the program's own.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn([] { shared = 1; }, [] { shared = 2; });
  return 3;
}
