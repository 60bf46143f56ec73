// A million mutexes, each taken by one thread and then by the other, and in one place of the million the other one takes the
// wrong one.
// REQUIRES: clang
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

constexpr int kLocks = 1000000, kWrong = 749999;
struct Cell {
  pthread_mutex_t mutex;  // as it is after PTHREAD_MUTEX_INITIALIZER: zero
  int value;
} cells[kLocks];

static void work(int wrong, int value) {
  for (int i = 0; i < kLocks; i++) {
    pthread_mutex_t* mutex = &cells[i == wrong ? i - 1 : i].mutex;
    pthread_mutex_lock(mutex);
    cells[i].value = value;
    pthread_mutex_unlock(mutex);
  }
}

int main() {
  in_turn([] { work(-1, 1); }, [] { work(kWrong, 2); });
  for (const Cell& cell : cells)
    if (cell.value != 2) return 1;
}
// CHECK: race: write-write on global cells of 48,000,000 bytes at offset 35999992
// CHECK: first  write of 4 bytes by thread 1, holding {{cells|0x}}
// CHECK: second write of 4 bytes by thread 2, holding {{cells|0x}}
// CHECK: 1 race in
