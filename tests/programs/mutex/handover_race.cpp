// A write after a critical section is not ordered by it: the release was too early.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
