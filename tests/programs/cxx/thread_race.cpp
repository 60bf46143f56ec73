// std::thread: a lambda's captured reference races with its creator until the join; the stack ends in our lambda.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <thread>

int main() {
  int local = 0;  // CHECK: race: write-read on stack of main thread
  std::thread thread([&local] {
    local = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
    order_done(1);
  });
  order_wait(1);
  use(local);  // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  thread.join();
}
