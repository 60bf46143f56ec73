// A thread cancelled in a blocking read: its cleanup handlers are over when the join returns.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <unistd.h>

int shared, ends[2];

static void clean_up(void* amount) { shared += *static_cast<int*>(amount); }
static void* work(void*) {
  int amount = 1;
  char byte;
  pthread_cleanup_push(clean_up, &amount);
  pthread_cleanup_push(clean_up, &amount);
  order_done(1);
  while (read(ends[0], &byte, 1) <= 0) continue;
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  if (pipe(ends) != 0) return 1;
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, work, nullptr);
  order_wait(1);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED && shared == 2 ? 0 : 1;
}
