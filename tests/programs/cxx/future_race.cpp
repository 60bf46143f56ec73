// A future orders what came before its value was set, not what the setter does afterwards.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <future>
#include <thread>

int shared;  // CHECK: race: write-read on global shared of 4 bytes

int main() {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  std::thread thread([&promise] {
    promise.set_value();
    shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
    order_done(1);
  });
  future.wait();
  order_wait(1);
  use(shared);  // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  thread.join();
}
