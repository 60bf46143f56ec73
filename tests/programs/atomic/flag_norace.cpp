// A spinlock made of std::atomic_flag.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>
#include <sched.h>

int data;
std::atomic_flag lock;

static void work() {
  for (int i = 0; i < 20; i++) {
    while (lock.test_and_set(std::memory_order_acquire)) sched_yield();
    data++;
    lock.clear(std::memory_order_release);
  }
}

int main() {
  together(work, work);
  return data - 40;
}
