// A stack variable whose address was handed to another thread: the report names whose stack it is.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int* address;
// CHECK: race: write-write on stack of thread 1
int main() {
  together(
      [] {
        int local;
        address = &local;
        use(address);
        local = 1;  // CHECK: [[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
      },
      [] {
        order_wait(1);
        int* where;
        __asm__("mov %1, %0" : "=r"(where) : "m"(address));  // invisible: only *where is to race
        *where = 2;                                          // CHECK: [[FILE]]:[[#@LINE]]
        order_done(2);
      });
}
// CHECK-NOT: race:
