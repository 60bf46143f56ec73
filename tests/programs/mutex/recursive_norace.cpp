// A recursive mutex is held until its last unlock.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;
pthread_mutex_t mutex;

static void work() {
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_trylock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  together(work, work);
  pthread_mutex_destroy(&mutex);
  return shared - 200;
}
