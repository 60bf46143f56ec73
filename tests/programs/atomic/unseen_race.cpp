// Nothing that one thread wrote was read by the other, so the two accesses can be next to each other: a race for every engine,
// shb's included. What comes behind the first is only told by those that do not ask for that: shb is silent about it.
// RUN: %cxx -O1 %s -o %t && %with "fasttrack djit generic shb" %race %t | %FileCheck %s
// RUN: %with "fasttrack djit generic" %race %t | %FileCheck --check-prefix=BEHIND %s
// RUN: %with shb %race %t | %FileCheck --check-prefix=ALONE %s
#include "order.h"
#include <atomic>

int data, behind;
std::atomic<int> one, two;

// CHECK-COUNT-4: race: write-write on global data of 4 bytes
// BEHIND-COUNT-3: race: write-write on global behind of 4 bytes
// ALONE-NOT: race: {{.*}} behind
int main() {
  in_turn(
      [] {
        data = 1;
        behind = 1;
        one.store(1, std::memory_order_relaxed);
      },
      [] {
        use(two.load(std::memory_order_relaxed));
        data = 2;
        if (one.load(std::memory_order_relaxed) == 1) behind = 2;
      });
}
