// Unlocking another thread's error-checking mutex fails and releases nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

int main() {
  together(
      [] {
        order_wait(1);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_mutex_unlock(&mutex);
        order_done(2);
      },
      [] {
        pthread_mutex_lock(&mutex);
        order_done(1);
        order_wait(2);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&mutex);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_mutex_unlock(&mutex);
      });
}
