// Two threads use a block under a mutex and the last one frees it: the mutex orders the free after both.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>

int* block;
int users = 2;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void work() {
  pthread_mutex_lock(&mutex);
  block[3]++;
  bool last = --users == 0;
  pthread_mutex_unlock(&mutex);
  if (last) free(block);
}

int main() {
  block = static_cast<int*>(calloc(10, sizeof(int)));
  together(work, work);
}
