// stdio in two threads on one stream: its lock is inside of libc.
// RUN: %cxx -O1 %s -o %t && %norace %t | %FileCheck %s
// CHECK-COUNT-4: line
#include "order.h"
#include <stdio.h>

int lines[2];

int main() {
  together(
      [] {
        for (int i = 0; i < 2; i++) printf("line %d\n", ++lines[0]);
      },
      [] {
        for (int i = 0; i < 2; i++) printf("line %d\n", ++lines[1]);
      });
}
