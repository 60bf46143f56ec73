// A relaxed atomic of 16 bytes hands nothing over.
// RUN: %cc -O1 -mcx16 %s -o %t && %race %t | %FileCheck %s
// REQUIRES: clang
#include "order.h"

int data;  // CHECK: race: write-write on global data of 4 bytes
_Alignas(16) __int128 ready;

static void first(void) {
  data = 1;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
  __atomic_store_n(&ready, (__int128)7 << 64, __ATOMIC_RELAXED);
}
static void second(void) {
  __int128 expected = (__int128)7 << 64;
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == expected) data = 2;  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
}

int main(void) { in_turn(first, second); }
