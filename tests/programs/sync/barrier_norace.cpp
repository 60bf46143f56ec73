// Two threads write the halves of an array in turns, a barrier between the rounds; exactly one of them is the serial one.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int halves[2], serial[2];
pthread_barrier_t barrier;

static void work(int me) {
  for (int round = 0; round < 10; round++) {
    halves[(me + round) % 2]++;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial[me]++;
  }
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  together([] { work(0); }, [] { work(1); });
  pthread_barrier_destroy(&barrier);
  return halves[0] == 10 && halves[1] == 10 && serial[0] + serial[1] == 10 ? 0 : 1;
}
