// A write before a critical section and a read after a later one of the same mutex: the order is transitive.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  in_turn(
      [] {
        shared = 1;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        shared = 2;
      });
}
