// Two unordered reads, then a write ordered after the second of them only: the first read must still be remembered.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: read-write on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* read_only(void*) {
  use(shared);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  return nullptr;
}
static void* read_locked(void*) {
  order_wait(1);
  pthread_mutex_lock(&mutex);
  use(shared);
  pthread_mutex_unlock(&mutex);
  order_done(2);
  return nullptr;
}

int main() {
  pthread_t one, two;
  pthread_create(&one, nullptr, read_only, nullptr);
  pthread_create(&two, nullptr, read_locked, nullptr);
  order_wait(2);
  pthread_mutex_lock(&mutex);
  shared = 1;  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  pthread_mutex_unlock(&mutex);
  pthread_join(one, nullptr);
  pthread_join(two, nullptr);
}
// CHECK-NOT: race:
