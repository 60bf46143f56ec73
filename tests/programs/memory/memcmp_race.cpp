// memcmp reads: a later write to what it compared is a race.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

char left[64], right[64];  // CHECK: race: read-write on global left of 64 bytes
volatile size_t size = 64;

int main() {
  in_turn([] { use(memcmp(left, right, size)); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { left[0] = 1; });                    // CHECK: [[FILE]]:[[#@LINE]]
}
