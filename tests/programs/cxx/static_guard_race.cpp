// The guard of a static local protects its initialization, not its later use.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

static int initial() {
  use(0);
  return 7;
}
static int& counter() {
  static int value = initial();  // CHECK: race: write-{{read|write}} on global {{.*}}value{{.*}} of 4 bytes
  use(&value);
  return value;
}

int main() {
  in_turn([] { counter() = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { counter() = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
