// std::timed_mutex not got in time orders nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <chrono>
#include <mutex>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
std::timed_mutex mutex;

int main() {
  together(
      [] {
        std::lock_guard lock(mutex);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
        order_wait(2);
      },
      [] {
        order_wait(1);
        if (!mutex.try_lock_for(std::chrono::milliseconds(1))) shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(2);
      });
}
