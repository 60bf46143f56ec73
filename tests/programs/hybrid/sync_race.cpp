// Who comes too late for a signal is ordered by the mutex alone.
// RUN: %cxx -O1 %s -o %t && %with fasttrack %norace %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes ([[ENGINE]], potential;
bool ready;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

int main() {
  in_turn(
      [] {
        shared = 1;
        pthread_mutex_lock(&mutex);
        ready = true;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        while (!ready) pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        shared = 2;
      });
}
