// Threads that come and go get the same stack memory from libc: the frames of a dead thread are no rivals.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

static void* work(void*) {
  int frame[64];
  use(frame);
  for (int& word : frame) word = 1;
  use(frame);
  order_arrive();
  return nullptr;
}

int main() {
  for (int i = 1; i <= 20; i++) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_detach(thread);  // no join: nothing orders the threads but the reuse itself
    order_wait(i);
  }
}
