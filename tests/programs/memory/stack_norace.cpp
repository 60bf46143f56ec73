// A stack variable of main, handed to a thread and read again after its join.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

static void* work(void* argument) {
  *static_cast<int*>(argument) += 1;
  return nullptr;
}

int main() {
  int local = 41;
  use(&local);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, &local);
  pthread_join(thread, nullptr);
  return local - 42;
}
