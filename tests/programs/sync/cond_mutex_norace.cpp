// pthread_cond_wait gives the mutex back while it waits: the waker's critical section is ordered with both sides of it.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int stage, shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

int main() {
  together(
      [] {
        pthread_mutex_lock(&mutex);
        shared = 1;
        order_done(1);
        while (stage == 0) pthread_cond_wait(&condition, &mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
      },
      [] {
        order_wait(1);
        pthread_mutex_lock(&mutex);  // got only because the other one waits
        shared++;
        stage = 1;
        pthread_mutex_unlock(&mutex);
        pthread_cond_broadcast(&condition);
      });
  return shared - 3;
}
