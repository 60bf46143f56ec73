// pthread_tryjoin_np and its relatives that succeed order like a join.
// RUN: %cxx -O1 -DJOIN="pthread_tryjoin_np(thread,nullptr)" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DJOIN="pthread_timedjoin_np(thread,nullptr,&future)" %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DJOIN="pthread_clockjoin_np(thread,nullptr,CLOCK_REALTIME,&future)" %s -o %t3 && %norace %t3
#include "order.h"
#include <sched.h>
#include <time.h>

int shared;
[[maybe_unused]] static const timespec future = {1L << 40, 0};

static void* work(void*) {
  shared = 1;
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  while (JOIN != 0) sched_yield();
  return shared - 1;
}
