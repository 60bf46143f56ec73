// A semaphore of System V as a lock, as a signal, and as something to wait for until it is zero.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit shb multilock" %norace %t
#include "order.h"
#include <sys/sem.h>

int shared, locked, started, set;
enum { kLock, kSignal, kZero };

void change(unsigned short which, short by) {
  sembuf operation = {which, by, 0};
  semop(set, &operation, 1);
}
void add_under_lock() {
  for (int i = 0; i < 100; i++) {
    change(kLock, -1);
    locked++;
    change(kLock, 1);
  }
}

int main() {
  set = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600);
  started = 1;
  if (set < 0 || semctl(set, kLock, SETVAL, 1) || semctl(set, kSignal, SETVAL, 0) || semctl(set, kZero, SETVAL, 1))
    return 1;
  together(
      [] {
        started++;
        add_under_lock();
        shared = 1;
        change(kSignal, 1);
        change(kZero, 0);
        shared++;
      },
      [] {
        add_under_lock();
        sembuf operation = {kSignal, -1, 0};
        const timespec limit = {100, 0};
        if (semtimedop(set, &operation, 1, &limit)) return;
        shared++;
        change(kZero, -1);
      });
  const bool seen = semctl(set, kLock, GETVAL) == 1;
  semctl(set, 0, IPC_RMID);
  return seen && shared == 3 && locked == 200 ? 0 : 2;
}
