// pthread_exit from a deep frame runs destructors and hands its value to the join, which orders them.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;

struct Guard {
  ~Guard() { shared++; }
};

static void deep(int n) {
  Guard guard;
  use(&guard);
  if (n == 0) pthread_exit(&shared);
  deep(n - 1);
}
static void* work(void*) {
  deep(20);
  return nullptr;
}

int main() {
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_join(thread, &result);
  return result == &shared && shared == 21 ? 0 : 1;
}
