// Atomics of 1, 2, 4 and 8 bytes hand data over alike.
// RUN: %cxx -O1 -DTYPE="unsigned char" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DTYPE=short %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DTYPE=int %s -o %t4 && %norace %t4
// RUN: %cxx -O1 -DTYPE=long %s -o %t8 && %norace %t8
#include "order.h"
#include <atomic>

int data;
std::atomic<TYPE> ready;

int main() {
  in_turn(
      [] {
        data = 1;
        ready.fetch_add(7, std::memory_order_release);
      },
      [] {
        TYPE expected = 7;
        if (ready.compare_exchange_strong(expected, 9)) data++;
        if (ready.exchange(11) == 9) data++;
        if (ready.load() == 11) data++;
      });
  return data - 4;
}
