// pthread_tryjoin_np and pthread_timedjoin_np that fail order nothing.
// RUN: %cxx -O1 -DJOIN="pthread_tryjoin_np(thread,nullptr)" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DJOIN="pthread_timedjoin_np(thread,nullptr,&past)" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DJOIN="pthread_clockjoin_np(thread,nullptr,CLOCK_MONOTONIC,&past)" %s -o %t3
// RUN: %race %t3 | %FileCheck %s
#include "order.h"
#include <time.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
[[maybe_unused]] static const timespec past = {0, 1};

static void* work(void*) {
  shared = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  order_wait(2);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  order_wait(1);
  bool failed = JOIN != 0;
  if (failed) use(shared);  // CHECK: #0 main{{.*}}[[FILE]]:[[#@LINE]]
  order_done(2);
  pthread_join(thread, nullptr);
}
