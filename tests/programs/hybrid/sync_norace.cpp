// Everything that orders but locks: conditions, barriers, semaphores, atomics, fences, creating and joining threads.
// RUN: %cxx -O1 %s -o %t && %with "simplelock simplelock,q=0 multilock acculock" %norace %t
// Eraser knows of locks only, and takes all of this for races.
// RUN: %with eraser %race %t | %FileCheck %s
// CHECK: race: {{.*}} (eraser, potential;
#include "order.h"
#include <atomic>
#include <semaphore.h>

int by_condition, by_barrier, by_semaphore, by_atomic, by_fence, by_thread;
int waits, ready;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
sem_t semaphore;
std::atomic<int> flag, relaxed;

static void first() {
  by_condition = 1;
  for (bool waiting = false; !waiting;) {  // who waits is told; who comes late would be ordered by the mutex alone
    pthread_mutex_lock(&mutex);
    waiting = waits;
    if (waiting) {
      ready = 1;
      pthread_cond_signal(&condition);
    }
    pthread_mutex_unlock(&mutex);
  }
  by_barrier = 1;
  pthread_barrier_wait(&barrier);
  by_semaphore = 1;
  sem_post(&semaphore);
  by_atomic = 1;
  flag.store(1, std::memory_order_release);
  by_fence = 1;
  std::atomic_thread_fence(std::memory_order_release);
  relaxed.store(1, std::memory_order_relaxed);
  by_thread = 1;
}

static void second() {
  pthread_mutex_lock(&mutex);
  waits = 1;
  while (!ready) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  by_condition++;
  pthread_barrier_wait(&barrier);
  by_barrier++;
  sem_wait(&semaphore);
  by_semaphore++;
  while (flag.load(std::memory_order_acquire) == 0) {
  }
  by_atomic++;
  while (relaxed.load(std::memory_order_relaxed) == 0) {
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  by_fence++;
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  sem_init(&semaphore, 0, 0);
  by_thread = 5;
  together(first, second);
  by_thread++;
  sem_destroy(&semaphore);
  pthread_barrier_destroy(&barrier);
}
