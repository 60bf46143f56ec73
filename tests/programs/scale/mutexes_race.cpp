// Ten thousand mutexes, and the two threads use different halves of them: their locks have nothing in common.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

constexpr int count = 10000;
int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_mutex_t mutexes[count];

static void lock(int start) {
  for (int i = start; i < count; i += 2) {
    pthread_mutex_lock(&mutexes[i]);
    pthread_mutex_unlock(&mutexes[i]);
  }
}

int main() {
  for (pthread_mutex_t& mutex : mutexes) pthread_mutex_init(&mutex, nullptr);
  in_turn(
      [] {
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        lock(0);
      },
      [] {
        lock(1);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
