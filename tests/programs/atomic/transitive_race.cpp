// Three threads hand a value on by two flags, the middle one relaxed: the chain is broken.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// Under shb what a load saw comes before it: no reordering in which it sees the same has the two next to each other.
// RUN: %with shb %norace %t
// RUN: %with "djit generic" %race %t | %FileCheck %s
#include "order.h"
#include <atomic>
#include <sched.h>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> one, two;

static void* middle(void*) {
  while (one.load(std::memory_order_relaxed) == 0) sched_yield();
  two.store(1, std::memory_order_release);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, middle, nullptr);
  together(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        one.store(1, std::memory_order_release);
      },
      [] {
        while (two.load(std::memory_order_acquire) == 0) sched_yield();
        data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
  pthread_join(thread, nullptr);
}
