// A bit-field of width zero starts a new memory location: the fields on its two sides may be written at once.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

struct Flags {
  unsigned a : 3;
  unsigned : 0;
  unsigned b : 5;
} shared;

int main() {
  in_turn([] { shared.a = 1; }, [] { shared.b = 2; });
  return shared.a + shared.b - 3;
}
