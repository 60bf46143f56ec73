// A write after the post of a named semaphore is not ordered by it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
sem_t* semaphore;

int main() {
  char name[64];
  snprintf(name, sizeof name, "/photofinish-test-%d", getpid());
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
  if (semaphore == SEM_FAILED) return 1;
  sem_unlink(name);
  in_turn(
      [] {
        sem_post(semaphore);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        sem_wait(semaphore);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
