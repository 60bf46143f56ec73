// A semaphore with two tokens lets two threads in at once: it is no mutex.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <semaphore.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
sem_t semaphore;

int main() {
  sem_init(&semaphore, 0, 2);
  together(
      [] {
        sem_wait(&semaphore);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
        sem_post(&semaphore);
      },
      [] {
        order_wait(1);
        sem_wait(&semaphore);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
        sem_post(&semaphore);
      });
}
