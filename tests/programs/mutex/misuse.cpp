// Mistakes with mutexes that are no races: each is reported once, by its name and place.
// RUN: %cxx -O1 %s -o %t && %exits 66 %run %t | %FileCheck %s
#include "order.h"

extern "C" void __tsan_check_no_mutexes_held();

int main() {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_lock(&mutex);
  __tsan_check_no_mutexes_held();  // CHECK: misuse: mutex held in the wrong context
  pthread_mutex_unlock(&mutex);
  __tsan_check_no_mutexes_held();
  pthread_mutex_destroy(&mutex);
  pthread_mutex_lock(&mutex);  // CHECK: misuse: use of a destroyed mutex
  // CHECK: [[FILE]]:[[#@LINE-1]]
  pthread_mutex_trylock(&mutex);  // CHECK: misuse: use of a destroyed mutex
  // CHECK: [[FILE]]:[[#@LINE-1]]
}
// CHECK-NOT: misuse:
