// The builtins in C, with fetch_nand, which C++ has not, and with constant orders.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"

int data;
unsigned char ready = 0xff;

static void first(void) {
  data = 1;
  __atomic_fetch_nand(&ready, 0x0f, __ATOMIC_RELEASE);
}
static void second(void) {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0xf0) data++;
}

int main(void) {
  in_turn(first, second);
  return data - 2;
}
