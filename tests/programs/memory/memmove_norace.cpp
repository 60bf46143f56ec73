// memmove over itself reads and writes 40 bytes in all, and no more.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <string.h>

char shared[64];
volatile size_t size = 32;

int main() {
  in_turn([] { memmove(shared + 8, shared, size); }, [] { shared[40] = 1; });
}
