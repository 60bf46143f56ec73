// A spinlock tried for and not got orders nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;  // CHECK: race: write-write on global shared of 4 bytes
pthread_spinlock_t lock;

int main() {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  together(
      [] {
        pthread_spin_lock(&lock);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
        pthread_spin_unlock(&lock);
      },
      [] {
        order_wait(1);
        if (pthread_spin_trylock(&lock) != 0) shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
      });
}
