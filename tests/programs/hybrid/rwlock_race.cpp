// A read lock protects reads, not writes: a read under it and a write under it are unprotected, though the write side is held in between.
// RUN: %cxx -O1 %s -o %t && %with fasttrack %norace %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
#include "order.h"

int shared;  // CHECK: race: read-write on global shared of 4 bytes ([[ENGINE]], potential;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

int main() {
  in_turn(
      [] {
        pthread_rwlock_rdlock(&lock);
        use(shared);
        pthread_rwlock_unlock(&lock);
      },
      [] {
        pthread_rwlock_wrlock(&lock);
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_rdlock(&lock);
        shared = 2;
        pthread_rwlock_unlock(&lock);
      });
}
