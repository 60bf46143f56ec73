// The owner of a robust mutex dies with it: the next owner gets EOWNERDEAD and all the dead one wrote.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <errno.h>

int shared, code;
pthread_mutex_t mutex;

int main() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  together(
      [] {
        pthread_mutex_lock(&mutex);
        shared = 1;
        order_done(1);
      },
      [] {
        order_wait(1);
        code = pthread_mutex_lock(&mutex);  // waits for the owner's death
        if (code == EOWNERDEAD) pthread_mutex_consistent(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
      });
  pthread_mutex_destroy(&mutex);
  return code == EOWNERDEAD && shared == 3 ? 0 : 1;
}
