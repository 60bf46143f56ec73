// Two different races are two reports.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int one, two;

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
}
// CHECK-DAG: race: write-write on global one of 4 bytes
// CHECK-DAG: race: write-write on global two of 4 bytes
