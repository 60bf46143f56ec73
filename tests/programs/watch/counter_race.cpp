// Two threads count in a loop: each engine that watches finds it, with breakpoints and without.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "clockrace,rate=100%%,overhead=50%% clockrace,rate=100%%,overhead=50%%,symmetric,limit=30ms collision,rate=100%%,delay=1ms,overhead=50%%" %race %t | %FileCheck %s
// RUN: env PHOTOFINISH_OPTIONS=breakpoints=0 %with "clockrace,rate=100%%,overhead=50%% collision,rate=100%%,delay=1ms,overhead=50%%" %race %t | %FileCheck %s --check-prefixes=CHECK,SOFT
#include <thread>

#include "order.h"

int counter;

void count() {
  for (int i = 0; i < 20000000; ++i) {
    ++counter;
    use(&counter);
  }
}

int main() {
  std::thread one(count), two(count);
  one.join();
  two.join();
}
// CHECK: on global counter
// CHECK: first {{.*}} of 4 bytes by
// CHECK-NEXT: #0 count{{.*}}[[FILE]]:13
// CHECK: second {{.*}} of 4 bytes by
// CHECK-NEXT: #0 count{{.*}}[[FILE]]:13
// CHECK: created by main thread
// CHECK: sampled 100% of the instructions, asked for 100%; watched
// SOFT-SAME: without breakpoints
// CHECK-SAME: fired
