// A thread that knows all that was sampled looks at nothing any more; but as long as another one does not, there is no rest (rest.h), and what
// the thread frees and allocates is told: who gets that memory would else seem to meet what an earlier block saw there.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0,period=1 %norace %t
#include <pthread.h>
#include <stdlib.h>

#include "order.h"
#include "sampling/sampled.h"

constexpr unsigned kBytes = 512;

long *earlier, *later;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void synchronize() {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  in_turn(
      [] {
        earlier = static_cast<long*>(malloc(kBytes));
        sampled([] { earlier[0] = 1; });
        synchronize();  // until it has found out that it knows all
        free(earlier);
        later = static_cast<long*>(malloc(kBytes));
        if (later != earlier) abort();  // then there is nothing to see here
      },
      [] { later[0] = 2; });
}
