// memcpy reads its source: that races with a later write to it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

char source[64], target[64];  // CHECK: race: read-write on global source of 64 bytes
volatile size_t size = 64;

int main() {
  in_turn([] { memcpy(target, source, size); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { source[63] = 1; });               // CHECK: [[FILE]]:[[#@LINE]]
}
