// Handlers of atexit and destructors of globals run in the exiting thread, after what was joined, in reverse order.
// RUN: %cxx -O1 %s -o %t && %norace %t | %FileCheck %s
// CHECK: exit 2
// CHECK: global 3
#include "order.h"
#include <stdio.h>
#include <stdlib.h>

int shared;
struct Global {
  ~Global() { printf("global %d\n", ++shared); }
} global;

int main() {
  atexit([] { printf("exit %d\n", ++shared); });
  in_turn([] { shared++; }, [] {});
  exit(0);
}
