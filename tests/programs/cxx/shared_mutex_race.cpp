// A write under std::shared_lock: the shared side excludes no other reader.
// RUN: %cxx -O1 -DMUTEX=std::shared_mutex %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DMUTEX=std::shared_timed_mutex %s -o %t2 && %race %t2 | %FileCheck %s
#include "order.h"
#include <shared_mutex>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
MUTEX mutex;

int main() {
  in_turn(
      [] {
        std::shared_lock lock(mutex);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        std::shared_lock lock(mutex);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
