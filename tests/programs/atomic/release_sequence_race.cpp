// A relaxed store of another thread ends the release sequence: who reads it takes nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// RUN: %with "djit generic shb" %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int data;  // CHECK: race: write-write on global data of 4 bytes
std::atomic<int> ready;

static void* middle(void*) {
  order_wait(1);
  ready.store(2, std::memory_order_relaxed);
  order_done(2);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, middle, nullptr);
  together(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(1, std::memory_order_release);
        order_done(1);
      },
      [] {
        order_wait(2);
        if (ready.load(std::memory_order_acquire) == 2) data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
  pthread_join(thread, nullptr);
}
