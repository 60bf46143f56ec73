// The reference count of a shared_ptr is atomic, the pointer itself is not: assigning it in two threads is a race.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <memory>

std::shared_ptr<int> shared;  // CHECK: race: {{read|write}}-{{read|write}} on global shared of 16 bytes

int main() {
  in_turn([] { shared = std::make_shared<int>(1); },   // CHECK: [[FILE]]:[[#@LINE]]
          [] { shared = std::make_shared<int>(2); });  // CHECK: [[FILE]]:[[#@LINE]]
}
