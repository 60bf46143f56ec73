// A spinlock orders like a mutex.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sched.h>

int shared;
pthread_spinlock_t lock;

static void work() {
  for (int i = 0; i < 20; i++) {
    pthread_spin_lock(&lock);
    shared++;
    pthread_spin_unlock(&lock);
    while (pthread_spin_trylock(&lock) != 0) sched_yield();
    shared++;
    pthread_spin_unlock(&lock);
  }
}

int main() {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  in_turn(work, work);
  pthread_spin_destroy(&lock);
  return shared - 80;
}
