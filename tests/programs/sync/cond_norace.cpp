// Producer and consumer by mutex and condition, with every way to wait and to wake.
// RUN: %cxx -O1 -DWAIT="pthread_cond_wait(&condition,&mutex)" -DWAKE=signal %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DWAIT="pthread_cond_timedwait(&condition,&mutex,&future)" -DWAKE=broadcast %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DWAIT="pthread_cond_clockwait(&condition,&mutex,CLOCK_MONOTONIC,&future)" -DWAKE=signal %s -o %t3
// RUN: %norace %t3
#include "order.h"
#include <time.h>

#define JOIN_NAMES(a, b) a##b
#define CALL(a, b) JOIN_NAMES(a, b)

int ready, shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
[[maybe_unused]] static const timespec future = {1L << 40, 0};

int main() {
  together(
      [] {
        shared = 1;
        pthread_mutex_lock(&mutex);
        ready = 1;
        CALL(pthread_cond_, WAKE)(&condition);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        while (!ready) WAIT;
        pthread_mutex_unlock(&mutex);
        shared++;
      });
  pthread_cond_destroy(&condition);
  return shared - 2;
}
