// A compare_exchange that fails with relaxed order synchronizes nothing, whatever its order of success.
// RUN: %cxx -O1 -DKIND=strong %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DKIND=weak %s -o %t2 && %race %t2 | %FileCheck %s
#include "order.h"
#include <atomic>

#define CALL(kind) CALL_OF(kind)
#define CALL_OF(kind) compare_exchange_##kind

int data;  // CHECK: race: write-{{read|write}} on global data of 4 bytes
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        ready.store(1, std::memory_order_release);
      },
      [] {
        int expected = 0;
        if (!ready.CALL(KIND)(expected, 2, std::memory_order_acq_rel, std::memory_order_relaxed))
          data = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
