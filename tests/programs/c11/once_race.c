// C11 call_once orders nothing that its callers do next.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <threads.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
once_flag once = ONCE_FLAG_INIT;

static void initialize(void) {}
static void first(void) {
  call_once(&once, initialize);
  shared = 1;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
}
static void second(void) {
  call_once(&once, initialize);
  shared = 2;  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
}

int main(void) { in_turn(first, second); }
