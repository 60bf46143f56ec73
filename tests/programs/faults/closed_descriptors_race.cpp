// A program that closes every descriptor there is, by libc or behind its back: the report comes all the same, with names.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// RUN: %race %t raw | %FileCheck %s
#include "order.h"
#include <sys/syscall.h>
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main(int count, char**) {
  if (count > 1) syscall(SYS_close_range, 3U, ~0U, 0U);
  for (int i = 3; i < 2000; i++) close(i);
  in_turn([] { shared = 1; },   // CHECK: [[FILE]]:[[#@LINE]]
          [] { shared = 2; });  // CHECK: [[FILE]]:[[#@LINE]]
}
// CHECK-NOT: ended early
