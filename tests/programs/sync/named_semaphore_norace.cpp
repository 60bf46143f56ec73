// A named semaphore orders like an unnamed one.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

int shared;
sem_t* semaphore;

int main() {
  char name[64];
  snprintf(name, sizeof name, "/photofinish-test-%d", getpid());
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
  if (semaphore == SEM_FAILED) return 1;
  sem_unlink(name);
  together(
      [] {
        shared = 1;
        sem_post(semaphore);
      },
      [] {
        sem_wait(semaphore);
        shared++;
      });
  sem_close(semaphore);
  return shared - 2;
}
