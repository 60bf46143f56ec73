// Floating-point stores in C race like integers.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

double shared;  // CHECK: race: write-write on global shared of 8 bytes

static void first(void) {
  shared = 1.5;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
}
static void second(void) {
  shared = 2.5;  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
}

int main(void) { in_turn(first, second); }
