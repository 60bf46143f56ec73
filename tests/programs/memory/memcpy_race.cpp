// memcpy of a variable size is a call: the bytes it writes race with a plain write, and the report names the caller.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

char source[64], target[64];  // CHECK: race: write-write on global target of 64 bytes
volatile size_t size = 40;

int main() {
  in_turn([] { memcpy(target, source, size); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { target[39] = 1; });               // CHECK: [[FILE]]:[[#@LINE]]
}
