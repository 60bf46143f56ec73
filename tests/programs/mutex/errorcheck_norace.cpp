// Locking an error-checking mutex twice fails with EDEADLK and leaves it held once: legal, and no misuse.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <errno.h>

int shared, faults;
pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void work() {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&mutex);
    if (pthread_mutex_lock(&mutex) != EDEADLK) faults++;
    shared++;
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  together(work, work);
  return shared - 40 + faults;
}
