// The inner unlock of a recursive mutex releases nothing: who fails to get it meanwhile is not ordered.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int main() {
  together(
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_mutex_unlock(&mutex);
        order_done(1);
        order_wait(2);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        order_wait(1);
        if (pthread_mutex_trylock(&mutex) != 0) shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
      });
}
