// Every read-modify-write with acquire and release order hands data over, and computes what it should.
// RUN: %cxx -O1 -DCALL="fetch_add(3,order)" -DRESULT=8 %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DCALL="fetch_sub(3,order)" -DRESULT=2 %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DCALL="fetch_and(3,order)" -DRESULT=1 %s -o %t3 && %norace %t3
// RUN: %cxx -O1 -DCALL="fetch_or(3,order)" -DRESULT=7 %s -o %t4 && %norace %t4
// RUN: %cxx -O1 -DCALL="fetch_xor(3,order)" -DRESULT=6 %s -o %t5 && %norace %t5
// RUN: %cxx -O1 -DCALL="exchange(3,order)" -DRESULT=3 %s -o %t6 && %norace %t6
// RUN: %cxx -O1 -DCALL="compare_exchange_strong(five,9,order)" -DRESULT=9 %s -o %t7 && %norace %t7
#include "order.h"
#include <atomic>

constexpr auto order = std::memory_order_acq_rel;
int data, five = 5;
std::atomic<int> ready(5);

int main() {
  in_turn(
      [] {
        data = 1;
        ready.CALL;
      },
      [] {
        if (ready.fetch_add(0, order) == RESULT) data++;
      });
  return data - 2;
}
