// An atomic access and a plain one to the same variable: a race in both directions.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int flag;  // CHECK: race: write-read on global flag of 4 bytes

// CHECK: first {{ *}}atomic write of 4 bytes by thread 1
int main() {
  in_turn([] { __atomic_store_n(&flag, 1, __ATOMIC_RELEASE); },  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { use(flag); });                                    // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
