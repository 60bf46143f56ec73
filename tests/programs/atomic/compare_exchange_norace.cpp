// A compare_exchange that fails is a load with its failure order: acquire synchronizes.
// RUN: %cxx -O1 -DKIND=strong %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DKIND=weak %s -o %t2 && %norace %t2
#include "order.h"
#include <atomic>

#define CALL(kind) CALL_OF(kind)
#define CALL_OF(kind) compare_exchange_##kind

int data;
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;
        ready.store(1, std::memory_order_release);
      },
      [] {
        int expected = 0;
        if (!ready.CALL(KIND)(expected, 2, std::memory_order_relaxed, std::memory_order_acquire)) data++;
      });
  return data - 2;
}
