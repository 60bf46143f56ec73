// Two that lower a semaphore are not ordered by that: it let both in.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <sys/sem.h>

int shared, set;  // CHECK: race: write-write on global shared of 4 bytes

void lower() {
  sembuf operation = {0, -1, 0};
  semop(set, &operation, 1);
}

int main() {
  set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  if (set < 0 || semctl(set, 0, SETVAL, 2)) return 1;
  in_turn(
      [] {
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        lower();
      },
      [] {
        lower();
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
  semctl(set, 0, IPC_RMID);  // CHECK: 1 race in
}
