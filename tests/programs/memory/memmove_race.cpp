// memmove over itself writes its target: that races with a write of another thread.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

char shared[64];  // CHECK: race: write-write on global shared of 64 bytes
volatile size_t size = 32;

int main() {
  in_turn([] { memmove(shared + 8, shared, size); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { shared[39] = 1; });                    // CHECK: [[FILE]]:[[#@LINE]]
}
