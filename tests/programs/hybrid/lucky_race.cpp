// Two writes that only the order in which this run took a mutex kept apart. No order of this run leaves them to race, so
// fasttrack is silent; the hybrids see that another run may.
// RUN: %cxx -O1 %s -o %t && %with fasttrack %norace %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes ([[ENGINE]], potential;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void pass() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

int main() {
  in_turn(
      [] {
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        pass();
      },
      [] {
        pass();
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK: hidden in this run: nothing but lock order put the first before the second
// CHECK-NEXT: thread 1 released mutex at pass {{.*}}[[FILE]]:[[#@LINE - 15]]
// CHECK-NEXT: thread 2 acquired mutex at pass {{.*}}[[FILE]]:[[#@LINE - 17]]
