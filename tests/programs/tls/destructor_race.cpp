// The destructor of a thread_local object runs in the ending thread: its write races with one before the join.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <thread>

int shared;  // CHECK: race: write-read on global shared of 4 bytes

struct Local {
  int value = 0;
  ~Local() {
    shared = value;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
    order_done(1);
  }
};
thread_local Local local;

int main() {
  std::thread thread([] { local.value = 1; });
  order_wait(1);
  use(shared);  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  thread.join();
}
