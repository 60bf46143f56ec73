// After its last unlock a recursive mutex is not held any more.
// RUN: %cxx -O1 %s -o %t && %with fasttrack %norace %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes ([[ENGINE]], potential;
pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        shared = 1;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_unlock(&mutex);
        shared = 2;
      });
}
