// memcmp reads up to the byte that differs, here in the second word of 8 bytes.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

char left[64];  // CHECK: race: read-write on global left of 64 bytes
char right[64] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
volatile size_t size = 64;

int main() {
  in_turn([] { use(memcmp(left, right, size)); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { left[11] = 1; });                   // CHECK: [[FILE]]:[[#@LINE]]
}
