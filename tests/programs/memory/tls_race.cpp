// A thread-local variable is private only by its name: through its address another thread can race on it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

thread_local int mine;
int* address;
// CHECK: race: write-write on thread-local memory of thread 1
int main() {
  together(
      [] {
        address = &mine;
        use(address);
        mine = 1;  // CHECK: [[FILE]]:[[#@LINE]]
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
