// std::call_once orders nothing that its callers do next.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <mutex>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
std::once_flag once;

int main() {
  in_turn(
      [] {
        std::call_once(once, [] { shared = 0; });
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        std::call_once(once, [] { shared = 0; });
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
