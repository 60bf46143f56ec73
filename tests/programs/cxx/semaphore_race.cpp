// A std::counting_semaphore that could not be acquired orders nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <semaphore>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
std::counting_semaphore<4> semaphore(1);

int main() {
  in_turn(
      [] {
        semaphore.acquire();
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        if (!semaphore.try_acquire()) use(shared);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
