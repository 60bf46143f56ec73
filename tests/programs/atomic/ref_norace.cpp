// std::atomic_ref on a plain object: atomic while the references live, plain before and after.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>

int counter, data;

int main() {
  counter = 0;
  in_turn(
      [] {
        data = 1;
        std::atomic_ref(counter).store(1, std::memory_order_release);
      },
      [] {
        if (std::atomic_ref(counter).load(std::memory_order_acquire) == 1) data++;
      });
  return counter + data - 3;
}
