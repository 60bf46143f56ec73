// Who waits for a condition without an end will be told of what was sampled, and is not in the way of rest (rest.h). Who waits for a time
// only is: it goes on knowing nothing, and what it meets is found. So is what its free() meets, of a block of which little was sampled.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0,period=1 %race %t | %FileCheck %s --implicit-check-not=race:
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "order.h"
#include "sampling/sampled.h"

constexpr int kWords = 512;

alignas(4096) long met;
long* block;
int done;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void synchronize() {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

void* wait_for_a_while(void*) {
  pthread_mutex_lock(&own);
  order_done(1);
  while (__atomic_load_n(&done, __ATOMIC_RELAXED) == 0) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50'000'000;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    pthread_cond_timedwait(&never, &own, &until);
  }
  pthread_mutex_unlock(&own);
  met = 2;      // CHECK-DAG: race: write-write on global met
  free(block);  // CHECK-DAG: race: write-free on freed heap block
  return nullptr;
}

int main() {
  block = static_cast<long*>(malloc(kWords * sizeof(long)));
  pthread_t waiting;
  pthread_create(&waiting, nullptr, &wait_for_a_while, nullptr);
  order_wait(1);
  sampled([] { met = block[kWords - 1] = 1; });
  synchronize();
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  pthread_join(waiting, nullptr);
}
// CHECK: 2 races in
