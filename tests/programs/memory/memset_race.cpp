// memset of a variable size races with a read in the middle of its range.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

char shared[100];  // CHECK: race: write-read on global shared of 100 bytes
volatile size_t size = 100;

int main() {
  in_turn([] { memset(shared, 1, size); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { use(shared[50]); });         // CHECK: [[FILE]]:[[#@LINE]]
}
