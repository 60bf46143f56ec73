// Appending to one std::vector in two threads: the race is inside the library's inlined code, the stack leads to us.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <vector>

std::vector<int> numbers;  // CHECK: race: write-{{read|write}} on global numbers of 24 bytes

int main() {
  numbers.reserve(10);
  in_turn([] { numbers.push_back(1); },   // CHECK: [[FILE]]:[[#@LINE]]
          [] { numbers.push_back(2); });  // CHECK: [[FILE]]:[[#@LINE]]
}
