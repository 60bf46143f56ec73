// A lock got by trying orders like any other.
// RUN: %cxx -O1 -DTRY="pthread_mutex_trylock(&mutex)" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DTRY="pthread_mutex_timedlock(&mutex,&future)" %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DTRY="pthread_mutex_clocklock(&mutex,CLOCK_REALTIME,&future)" %s -o %t3 && %norace %t3
#include "order.h"
#include <sched.h>
#include <time.h>

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
[[maybe_unused]] static const timespec future = {1L << 40, 0};

static void work() {
  for (int i = 0; i < 20; i++) {
    while (TRY != 0) sched_yield();
    shared++;
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  together(work, work);
  return shared - 40;
}
