// std::atomic_ref in one thread and a plain write in another.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

int counter;  // CHECK: race: write-write on global counter of 4 bytes

int main() {
  in_turn([] { std::atomic_ref(counter).fetch_add(1); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { counter = 2; });                           // CHECK: [[FILE]]:[[#@LINE]]
}
