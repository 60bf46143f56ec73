// What a thread did before it creates another is ordered before that one, over two generations.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;

static void* grandchild(void*) {
  shared++;
  return nullptr;
}
static void* child(void*) {
  shared++;
  pthread_t thread;
  pthread_create(&thread, nullptr, grandchild, nullptr);
  pthread_join(thread, nullptr);
  return nullptr;
}

int main() {
  shared = 1;
  pthread_t thread;
  pthread_create(&thread, nullptr, child, nullptr);
  pthread_join(thread, nullptr);
  return shared - 3;
}
