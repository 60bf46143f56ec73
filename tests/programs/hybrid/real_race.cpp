// Two pairs of writes: one that a mutex kept apart in this run only, and one that nothing did. The second is real, and told first.
// RUN: %cxx -O1 %s -o %t
// RUN: %with simplelock %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with simplelock,q=0 %race %t | %FileCheck %s -DENGINE=simplelock
// RUN: %with multilock %race %t | %FileCheck %s -DENGINE=multilock
// RUN: %with acculock %race %t | %FileCheck %s -DENGINE=acculock
// RUN: %with eraser %race %t | %FileCheck %s -DENGINE=eraser
// RUN: %exits 66 %photofinish run -e multilock -r json -- %t | %FileCheck %s --check-prefix=JSON
#include "order.h"

int early, late;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  in_turn(
      [] {
        early = 1;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        late = 1;
      },
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        early = 2;
        late = 2;
      });
}
// CHECK: race: write-write on global late of 4 bytes ([[ENGINE]], real;
// CHECK: race: write-write on global early of 4 bytes ([[ENGINE]], potential;
// JSON: "verdict":"real"
// JSON: "verdict":"potential"
// JSON: "type":"summary"{{.*}}"races":2
