// A mutex that is used by a thread which does not know yet that it was made.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;
pthread_mutex_t mutex;  // CHECK: race: write-read on global mutex of 40 bytes

int main() {
  in_turn(
      [] {
        pthread_mutex_init(&mutex, nullptr);  // CHECK: [[FILE]]:[[#@LINE]]
        pthread_mutex_lock(&mutex);
        shared = 1;
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);  // CHECK: [[FILE]]:[[#@LINE]]
        shared = 2;
        pthread_mutex_unlock(&mutex);
      });
}
// CHECK-NOT: race:
