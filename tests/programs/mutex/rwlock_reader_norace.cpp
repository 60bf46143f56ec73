// A read under the read side is ordered before a later write under the write side, although readers do not exclude
// each other.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void* read_it(void*) {
  pthread_rwlock_rdlock(&lock);
  order_arrive();
  order_wait(2);  // both readers are inside
  use(shared);
  pthread_rwlock_unlock(&lock);
  order_arrive();
  return nullptr;
}

int main() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, read_it, nullptr);
  order_wait(4);
  pthread_rwlock_wrlock(&lock);
  shared = 1;
  pthread_rwlock_unlock(&lock);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
