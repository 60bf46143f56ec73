// pthread_once orders the initializer before its callers, not what the callers do next.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize() { shared = 0; }

int main() {
  in_turn(
      [] {
        pthread_once(&once, initialize);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        pthread_once(&once, initialize);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
