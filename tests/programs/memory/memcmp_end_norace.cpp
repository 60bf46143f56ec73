// memcmp ends where the data differ, in the second word of 8 bytes: the byte after that was not read.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <string.h>

char left[64], right[64] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
volatile size_t size = 64;

int main() {
  in_turn([] { use(memcmp(left, right, size)); }, [] { left[12] = 1; });
}
