// memcmp in two threads only reads.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <string.h>

char left[64], right[64];
volatile size_t size = 64;

int main() {
  in_turn([] { use(memcmp(left, right, size)); }, [] { use(memcmp(left, right, size)); });
}
