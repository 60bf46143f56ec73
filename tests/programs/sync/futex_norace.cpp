// syscall() passes, whatever it calls: a lock of atomics and SYS_futex orders by its atomics.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

std::atomic<int> state;  // 0 free, 1 held, 2 held and awaited
int shared;

void lock() {
  int expected = 0;
  if (state.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return;
  while (state.exchange(2, std::memory_order_acquire) != 0) syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 2, nullptr);
}
void unlock() {
  if (state.exchange(0, std::memory_order_release) == 2) syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1);
}
void count() {
  for (int i = 0; i < 20000; i++) {
    lock();
    shared++;
    unlock();
  }
}

int main() {
  if (syscall(SYS_getpid) != getpid()) return 1;
  together(count, count);
  return shared == 40000 ? 0 : 2;
}
