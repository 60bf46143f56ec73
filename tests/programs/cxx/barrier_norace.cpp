// std::barrier: rounds are ordered, and the completion function runs between them.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <barrier>

int halves[2], total;

struct Complete {
  void operator()() noexcept { total += halves[0] + halves[1]; }
};
std::barrier<Complete> barrier(2, Complete());

static void work(int me) {
  for (int round = 0; round < 5; round++) {
    halves[(me + round) % 2]++;
    barrier.arrive_and_wait();
  }
}

int main() {
  together([] { work(0); }, [] { work(1); });
  return total - 30;
}
