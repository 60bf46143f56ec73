// Each write is under a mutex, but not the same one, and a third one kept them apart in this run.
// RUN: %cxx -O1 %s -o %t
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// simplelock counts locks, so it takes both sides for protected (figure 2 of its paper); eraser takes the first
// thread's write for initialization.
// RUN: %with "simplelock simplelock,q=0 eraser fasttrack" %norace %t
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes ([[ENGINE]], potential;
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER, between = PTHREAD_MUTEX_INITIALIZER;

static void pass() {
  pthread_mutex_lock(&between);
  pthread_mutex_unlock(&between);
}

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&one);
        shared = 1;
        pthread_mutex_unlock(&one);
        pass();
      },
      [] {
        pass();
        pthread_mutex_lock(&two);
        shared = 2;
        pthread_mutex_unlock(&two);
      });
}
// CHECK: first {{ *}}write of 4 bytes by thread 1, holding 0x{{[0-9a-f]+}}{{$}}
// CHECK: second {{ *}}write of 4 bytes by thread 2, holding 0x{{[0-9a-f]+}}{{$}}
