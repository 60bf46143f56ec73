// Atomics of 16 bytes, by the builtins of the older kind, which both compilers turn into calls of the runtime.
// RUN: %cc -O1 -mcx16 %s -o %t && %norace %t
// REQUIRES: clang
#include "order.h"

int data;
_Alignas(16) __int128 ready;

static void first(void) {
  data = 1;
  __atomic_store_n(&ready, (__int128)7 << 64, __ATOMIC_RELEASE);
}
static void second(void) {
  __int128 expected = (__int128)7 << 64;
  if (__atomic_compare_exchange_n(&ready, &expected, 9, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) data++;
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 9) data++;
}

int main(void) {
  in_turn(first, second);
  return data - 3;
}
