// A consumer that gives up waiting and reads without the mutex: a timed-out wait orders nothing that came after it began.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <time.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

int main() {
  in_turn(
      [] {
        shared = 1;                       // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pthread_cond_signal(&condition);  // nobody waits yet
      },
      [] {
        timespec past = {0, 1};
        pthread_mutex_lock(&mutex);
        pthread_cond_timedwait(&condition, &mutex, &past);
        pthread_mutex_unlock(&mutex);
        use(shared);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
