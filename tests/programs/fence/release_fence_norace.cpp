// A release fence before a relaxed store synchronizes with an acquire load.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit generic shb" %norace %t
#include "order.h"
#include <atomic>

int data;
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;
        std::atomic_thread_fence(std::memory_order_release);
        ready.store(1, std::memory_order_relaxed);
      },
      [] {
        if (ready.load(std::memory_order_acquire) == 1) data++;
      });
  return data - 2;
}
