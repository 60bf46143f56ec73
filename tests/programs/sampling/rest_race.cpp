// Who knows all that was sampled looks at nothing any more (rest.h). Here somebody does not: a thread that learnt nothing since, and all
// others as long as the one that sampled has told nobody, because it waits in pthread_join. What they meet is found, after synchronization
// enough for the others to rest.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0,period=1 %race %t | %FileCheck %s --implicit-check-not=race:
#include <pthread.h>
#include <stdlib.h>

#include "order.h"
#include "sampling/sampled.h"

constexpr unsigned kBytes = 4096;

alignas(4096) long unlearnt, untold, counted;
long* block;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void synchronize() {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

void* work(void*) {
  order_wait(1);
  AnnotateSampling(__FILE__, __LINE__, 0);
  synchronize();
  untold = 2;                                              // CHECK-DAG: race: write-write on global untold
  use(__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED));  // CHECK-DAG: race: write-write on global counted
  free(block);                                             // CHECK-DAG: race: write-free on freed heap block
  return nullptr;
}

int main() {
  in_turn(
      [] {
        sampled([] { unlearnt = 1; });
        synchronize();
        unlearnt = 1;
      },
      [] { unlearnt = 2; });  // CHECK-DAG: race: write-write on global unlearnt
  block = static_cast<long*>(malloc(kBytes));
  pthread_t worker;
  pthread_create(&worker, nullptr, &work, nullptr);
  AnnotateSampling(__FILE__, __LINE__, 1);
  untold = counted = block[0] = 1;
  order_done(1);
  pthread_join(worker, nullptr);
}
// CHECK: 4 races in
