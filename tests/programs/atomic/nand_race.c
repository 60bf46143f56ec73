// The builtins in C: a relaxed fetch_nand hands nothing over.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int data;  // CHECK: race: write-write on global data of 4 bytes
unsigned char ready = 0xff;

static void first(void) {
  data = 1;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
  __atomic_fetch_nand(&ready, 0x0f, __ATOMIC_RELAXED);
}
static void second(void) {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0xf0) data = 2;  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
}

int main(void) { in_turn(first, second); }
