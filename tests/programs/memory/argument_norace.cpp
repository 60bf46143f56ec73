// One argument per thread, written before pthread_create: creation orders it before the thread.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

static void* work(void* argument) {
  use(*static_cast<int*>(argument));
  return nullptr;
}

int main() {
  int numbers[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    numbers[i] = i;
    pthread_create(&threads[i], nullptr, work, &numbers[i]);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
