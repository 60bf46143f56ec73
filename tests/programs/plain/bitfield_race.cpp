// Adjacent bit-fields are one memory location: writing two of them is a race although they share no bit.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

struct Flags {
  unsigned a : 3, b : 5;
} shared;  // CHECK: race: write-{{read|write}} on global shared of 4 bytes

int main() {
  in_turn([] { shared.a = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { shared.b = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
