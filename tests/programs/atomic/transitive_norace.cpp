// Three threads hand a value on by two flags: the order is transitive.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit generic shb" %norace %t
#include "order.h"
#include <atomic>
#include <sched.h>

int data;
std::atomic<int> one, two;

static void* middle(void*) {
  while (one.load(std::memory_order_acquire) == 0) sched_yield();
  two.store(1, std::memory_order_release);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, middle, nullptr);
  together(
      [] {
        data = 1;
        one.store(1, std::memory_order_release);
      },
      [] {
        while (two.load(std::memory_order_acquire) == 0) sched_yield();
        data = 2;
      });
  pthread_join(thread, nullptr);
}
