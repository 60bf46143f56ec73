// sem_post orders what came before it before every wait that gets the token, by whatever call.
// RUN: %cxx -O1 -DWAIT="sem_wait(&semaphore)" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DWAIT="sem_trywait(&semaphore)" %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DWAIT="sem_timedwait(&semaphore,&future)" %s -o %t3 && %norace %t3
// RUN: %cxx -O1 -DWAIT="sem_clockwait(&semaphore,CLOCK_REALTIME,&future)" %s -o %t4 && %norace %t4
#include "order.h"
#include <sched.h>
#include <semaphore.h>
#include <time.h>

int shared;
sem_t semaphore;
[[maybe_unused]] static const timespec future = {1L << 40, 0};

int main() {
  sem_init(&semaphore, 0, 0);
  together(
      [] {
        shared = 1;
        sem_post(&semaphore);
      },
      [] {
        while (WAIT != 0) sched_yield();
        shared++;
      });
  sem_destroy(&semaphore);
  return shared - 2;
}
