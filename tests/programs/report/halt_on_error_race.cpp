// halt_on_error=1 ends the program at its first race: it gets no further.
// RUN: %cxx -O1 %s -o %t && env PHOTOFINISH_OPTIONS=halt_on_error=1 %race %t | %FileCheck %s
#include "order.h"
#include <stdio.h>

int one, two;
// CHECK-NOT: further
// CHECK: race: write-write on global one of 4 bytes
// CHECK-NOT: race:
// CHECK-NOT: further
int main() {
  in_turn(
      [] {
        one = 1;
        two = 1;
      },
      [] {
        one = 2;
        two = 2;
      });
  puts("further");
}
