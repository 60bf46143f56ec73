// A static local without an initializer to guard it is one variable for all threads.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

static void count() {
  static int calls;  // CHECK: race: {{.*}} on global {{.*}}calls{{.*}} of 4 bytes
  calls++;           // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  use(&calls);
}

int main() { in_turn(count, count); }
