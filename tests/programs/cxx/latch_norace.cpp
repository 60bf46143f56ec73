// std::latch: all that came before a count_down is ordered before what comes after the wait.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <latch>

int shared[2];
std::latch latch(2);

int main() {
  together(
      [] {
        shared[0] = 1;
        latch.arrive_and_wait();
        use(shared[1]);
      },
      [] {
        shared[1] = 1;
        latch.count_down();
        latch.wait();
        use(shared[0]);
      });
}
