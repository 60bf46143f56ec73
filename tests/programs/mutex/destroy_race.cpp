// A mutex that is destroyed by a thread which does not know that the other has done with it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // CHECK: race: read-write on global mutex of 40 bytes

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&mutex);  // CHECK: [[FILE]]:[[#@LINE]]
        pthread_mutex_unlock(&mutex);
      },
      [] { pthread_mutex_destroy(&mutex); });  // CHECK: [[FILE]]:[[#@LINE]]
}
