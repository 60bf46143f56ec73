// Every access under one mutex, in two threads at once.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void work() {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  together(work, work);
  return shared - 200;
}
