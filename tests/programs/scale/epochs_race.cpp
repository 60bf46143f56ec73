// Clocks beyond what a mark in a cell has room for: the races of such late times are found, and nothing else.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

constexpr int kTicks = (1 << 23) + 1000;
int written, read_before, read_after, handed;
char bytes[8];
std::atomic<int> tick, ready;

// A release after an access: the next moment of the thread's clock.
static void grow_older(int ticks) {
  for (int i = 0; i < ticks; i++) {
    handed = i;
    tick.store(i, std::memory_order_release);
  }
}

// The second knows an early time of the first, which is later than what is left of a late one without its highest bits.
int main() {
  together(
      [] {
        grow_older(5000);
        order_done(1);
        order_wait(2);
        grow_older(kTicks - 5000);
        written = 1;       // CHECK: race: write-write on global written of 4 bytes
        use(read_before);  // CHECK: race: read-write on global read_before of 4 bytes
        read_after = 1;    // CHECK: race: write-read on global read_after of 4 bytes
        bytes[3] = 1;      // CHECK: race: write-write on global bytes of 8 bytes at offset 3
        handed = 7;
        ready.store(1, std::memory_order_release);
        bytes[4] = 1;
        order_done(3);
      },
      [] {
        order_wait(1);
        use(tick.load(std::memory_order_acquire));
        order_done(2);
        order_wait(3);
        written = 2;
        read_before = 1;
        use(read_after);
        bytes[3] = 2;
        bytes[5] = 2;
        use(ready.load(std::memory_order_acquire));
        handed++;
        written++;
        bytes[3]++;
      });
}  // CHECK: 4 races in
