// The same two places meet twice: first kept apart by a mutex, then by nothing. One race, and it is real.
// RUN: %cxx -O1 %s -o %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes ([[ENGINE]], real{{[,;]}}
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  together(
      [] {
        for (int i = 0; i < 2; i++) {
          order_wait(2 * i);
          shared = 1;
          if (i == 0) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
          }
          order_done(2 * i + 1);
        }
      },
      [] {
        for (int i = 0; i < 2; i++) {
          order_wait(2 * i + 1);
          if (i == 0) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
          }
          shared = 2;
          order_done(2 * i + 2);
        }
      });
}
// CHECK-NOT: race:
// CHECK: [[ENGINE]]{{.*}}: 1 race
