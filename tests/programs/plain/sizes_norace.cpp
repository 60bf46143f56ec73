// Every access size that has an entry point of its own, under a mutex.
// RUN: %cxx -O1 -DTYPE="unsigned char" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DTYPE=short %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DTYPE=int %s -o %t4 && %norace %t4
// RUN: %cxx -O1 -DTYPE=long %s -o %t8 && %norace %t8
// RUN: %cxx -O1 -DTYPE=__int128 %s -o %t16 && %norace %t16
#include "order.h"

TYPE shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main() {
  in_turn(
      [] {
        pthread_mutex_lock(&mutex);
        shared = 1;
        pthread_mutex_unlock(&mutex);
      },
      [] {
        pthread_mutex_lock(&mutex);
        use(static_cast<long>(shared >> 1));
        pthread_mutex_unlock(&mutex);
      });
}
