// std::atomic wait and notify: the wait ends in a load that acquires.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit generic shb" %norace %t
#include "order.h"
#include <atomic>

int data;
std::atomic<int> ready;

int main() {
  together(
      [] {
        data = 1;
        ready.store(1, std::memory_order_release);
        ready.notify_all();
      },
      [] {
        ready.wait(0, std::memory_order_acquire);
        data++;
      });
  return data - 2;
}
