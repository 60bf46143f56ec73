// The destructor of a pthread key runs in the ending thread: its write races with one before the join.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-read on global shared of 4 bytes
pthread_key_t key;

static void destroy(void* value) {
  *static_cast<int*>(value) = 1;  // CHECK: #0 destroy{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
}
static void* work(void*) {
  pthread_setspecific(key, &shared);
  return nullptr;
}

int main() {
  pthread_key_create(&key, destroy);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  order_wait(1);
  use(shared);  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  pthread_join(thread, nullptr);
}
