// A flag checked without the mutex that the condition goes with.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <condition_variable>
#include <mutex>

bool ready;  // CHECK: race: write-read on global ready of 1 byte
std::mutex mutex;
std::condition_variable condition;

int main() {
  in_turn(
      [] {
        std::lock_guard lock(mutex);
        ready = true;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        condition.notify_one();
      },
      [] {
        if (ready) return;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        std::unique_lock lock(mutex);
        condition.wait(lock, [] { return ready; });
      });
}
