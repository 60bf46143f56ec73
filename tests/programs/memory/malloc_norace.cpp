// A block that is allocated, handed over by creating a thread, and freed after the join.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>

static void* work(void* block) {
  static_cast<int*>(block)[2]++;
  return nullptr;
}

int main() {
  for (int i = 0; i < 3; i++) {
    int* block = static_cast<int*>(calloc(10, sizeof(int)));
    use(block);
    pthread_t thread;
    pthread_create(&thread, nullptr, work, block);
    pthread_join(thread, nullptr);
    block[2]++;
    use(block);
    free(block);
  }
}
