// std::atomic<std::shared_ptr> protects the pointer, not what it points to.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>
#include <memory>

std::atomic<std::shared_ptr<int>> shared;
// CHECK: race: write-write on heap block
int main() {
  shared = std::make_shared<int>(0);
  in_turn([] { *shared.load(std::memory_order_relaxed) = 1; },   // CHECK: [[FILE]]:[[#@LINE]]
          [] { *shared.load(std::memory_order_relaxed) = 2; });  // CHECK: [[FILE]]:[[#@LINE]]
}
