// x++ in two threads: a compiler may report its read, its write, or both as one access.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int counter;  // CHECK: race: {{read|write}}-{{read|write}} on global counter of 4 bytes

int main() {
  in_turn([] { counter++; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { counter++; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
