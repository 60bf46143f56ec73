// The argument of pthread_create points into a loop variable that the creator changes: the classic mistake.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

// CHECK: race: write-read on stack of main thread
static void* work(void* argument) {
  order_wait(1);
  use(*static_cast<int*>(argument));  // CHECK-DAG: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  return nullptr;
}

int main() {
  int i = 0;
  use(&i);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, &i);
  i = 1;  // CHECK-DAG: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  pthread_join(thread, nullptr);
}
