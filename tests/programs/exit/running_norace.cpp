// main returns while threads sleep, spin and wait for a lock that is never given back: the process ends at once.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sched.h>
#include <unistd.h>

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* sleeps(void*) {
  order_arrive();
  for (;;) pause();
}
static void* spins(void*) {
  order_arrive();
  for (;;) sched_yield();
}
static void* waits(void*) {
  order_arrive();
  pthread_mutex_lock(&mutex);
  return nullptr;
}

int main() {
  shared = 1;
  pthread_mutex_lock(&mutex);
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, sleeps, nullptr);
  pthread_create(&threads[1], nullptr, spins, nullptr);
  pthread_create(&threads[2], nullptr, waits, nullptr);
  order_wait(3);
  return shared - 1;
}
