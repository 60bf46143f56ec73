// sem_trywait or sem_timedwait that fails orders nothing.
// RUN: %cxx -O1 -DTRY="sem_trywait(&semaphore)" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="sem_timedwait(&semaphore,&past)" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="sem_clockwait(&semaphore,CLOCK_MONOTONIC,&past)" %s -o %t3 && %race %t3 | %FileCheck %s
#include "order.h"
#include <semaphore.h>
#include <time.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
sem_t semaphore;
[[maybe_unused]] static const timespec past = {0, 1};

int main() {
  sem_init(&semaphore, 0, 0);
  in_turn(
      [] {
        sem_post(&semaphore);
        sem_wait(&semaphore);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        bool failed = TRY != 0;
        if (failed) use(shared);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
