// A wide write and a narrow read of one of its inner bytes share memory although their addresses and sizes differ.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

union Word {
  long all;
  char bytes[8];
} shared;
// CHECK: race: write-read on global shared of 8 bytes
// CHECK: first {{ *}}write of 8 bytes
// CHECK: second {{ *}}read {{ *}}of 1 byte by

int main() {
  in_turn([] { shared.all = -1; }, [] { use(shared.bytes[5]); });
}
