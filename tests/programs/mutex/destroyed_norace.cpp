// A mutex that is destroyed and made anew in the same place, and one in a block that is freed and reused.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>

int shared;
pthread_mutex_t mutex;

static void work() {
  pthread_mutex_lock(&mutex);
  shared++;
  pthread_mutex_unlock(&mutex);
  auto* own = static_cast<pthread_mutex_t*>(malloc(sizeof(pthread_mutex_t)));
  pthread_mutex_init(own, nullptr);
  pthread_mutex_lock(own);
  pthread_mutex_unlock(own);
  pthread_mutex_destroy(own);
  free(own);
}

int main() {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_init(&mutex, nullptr);
    together(work, work);
    pthread_mutex_destroy(&mutex);
  }
  return shared - 6;
}
