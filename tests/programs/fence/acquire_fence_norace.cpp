// A release store synchronizes with an acquire fence after a relaxed load.
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
        ready.store(1, std::memory_order_release);
      },
      [] {
        int seen = ready.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (seen == 1) data++;
      });
  return data - 2;
}
