// A lock that was tried for and not got orders nothing, whether the attempt was bounded by time or not.
// RUN: %cxx -O1 -DTRY="pthread_mutex_trylock(&mutex)" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="pthread_mutex_timedlock(&mutex,&past)" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="pthread_mutex_clocklock(&mutex,CLOCK_MONOTONIC,&past)" %s -o %t3
// RUN: %race %t3 | %FileCheck %s
#include "order.h"
#include <time.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
[[maybe_unused]] static const timespec past = {0, 1};

int main() {
  together(
      [] {
        pthread_mutex_lock(&mutex);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        order_wait(1);
        bool failed = TRY != 0;
        if (failed) shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
      });
}
