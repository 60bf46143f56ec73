// A write to a block, and its end in another thread: kept apart by a mutex in this run only.
// RUN: %cxx -O1 %s -o %t && %with fasttrack %norace %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
#include "order.h"
#include <stdlib.h>

int* block;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  block = static_cast<int*>(malloc(48));
  in_turn(
      [] {
        block[1] = 1;  // CHECK: race: write-free on {{.*}}([[ENGINE]], potential;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        free(block);
      });
}
