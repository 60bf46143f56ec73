// A function with no_sanitize("thread") hides its own accesses, not those of what it calls.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int hidden, shared;  // CHECK: race: write-write on global shared of 4 bytes

__attribute__((noinline)) static void seen(int value) {
  shared = value;  // CHECK: #0 seen{{.*}}[[FILE]]:[[#@LINE]]
  use(value);
}
__attribute__((no_sanitize("thread"), noinline)) static void unseen() {
  hidden = 1;
  seen(1);
  use(0);
}

int main() { in_turn(unseen, unseen); }
// CHECK-NOT: race:
