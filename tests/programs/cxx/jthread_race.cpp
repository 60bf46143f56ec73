// Asking a std::jthread to stop orders the asker before the thread, not what the asker does next.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <thread>

int shared;  // CHECK: race: write-read on global shared of 4 bytes

int main() {
  std::jthread thread([](std::stop_token token) {
    while (!token.stop_requested()) std::this_thread::yield();
    order_wait(1);
    use(shared);
  });
  thread.request_stop();
  shared = 1;  // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
}
