// A reader-writer lock tried for and not got orders nothing.
// RUN: %cxx -O1 -DTRY="pthread_rwlock_tryrdlock(&lock)" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="pthread_rwlock_trywrlock(&lock)" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="pthread_rwlock_timedrdlock(&lock,&past)" %s -o %t3 && %race %t3 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="pthread_rwlock_timedwrlock(&lock,&past)" %s -o %t4 && %race %t4 | %FileCheck %s
// RUN: %cxx -O1 -DTRY="pthread_rwlock_clockrdlock(&lock,CLOCK_MONOTONIC,&past)" %s -o %t5
// RUN: %race %t5 | %FileCheck %s
#include "order.h"
#include <time.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
[[maybe_unused]] static const timespec past = {0, 1};

int main() {
  together(
      [] {
        pthread_rwlock_wrlock(&lock);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
        pthread_rwlock_unlock(&lock);
      },
      [] {
        order_wait(1);
        bool failed = TRY != 0;
        if (failed) use(shared);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
      });
}
