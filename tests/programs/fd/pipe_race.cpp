// A write to memory after the write to the pipe is not ordered by it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <unistd.h>

int shared, ends[2];  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  if (pipe(ends)) return 1;
  in_turn(
      [] {
        if (write(ends[1], "x", 1) != 1) return;
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        char byte;
        if (read(ends[0], &byte, 1) != 1) return;
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
