// std::atomic<std::shared_ptr> protects the pointer, not what is written to the object after it was loaded.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>
#include <memory>

std::atomic<std::shared_ptr<int>> shared;
// CHECK: race: write-write on heap block
int main() {
  shared = std::make_shared<int>(0);
  in_turn(
      [] {
        int* object = shared.load().get();
        *object = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        int* object = shared.load().get();
        *object = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
