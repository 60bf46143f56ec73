// Two writes under the read side of one lock: readers are not ordered among each other.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

int main() {
  in_turn(
      [] {
        pthread_rwlock_rdlock(&lock);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_rwlock_unlock(&lock);
      },
      [] {
        pthread_rwlock_rdlock(&lock);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_rwlock_unlock(&lock);
      });
}
