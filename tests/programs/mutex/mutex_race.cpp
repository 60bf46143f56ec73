// Two different mutexes protect nothing from each other.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&one);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_mutex_unlock(&one);
      },
      [] {
        pthread_mutex_lock(&two);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_mutex_unlock(&two);
      });
}
