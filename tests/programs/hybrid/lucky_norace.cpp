// The same order of the mutex, with the writes under it: no other run has a race, either.
// RUN: %cxx -O1 %s -o %t && %with "simplelock simplelock,q=0 multilock acculock eraser" %norace %t
#include "order.h"

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void work() {
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  in_turn(work, work);
  together(work, work);
}
