// The paper's rule drops what two other threads did in an equal context, although the future of a third may differ: here the main thread waits
// for two of three threads and races with the third alone, whose write was dropped. The rule about one thread finds it.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "tree:multilock tree,memory=1:multilock" %race %t | %FileCheck %s
// CHECK: race: write-write on global shared
// CHECK: race: write-write on global shared
// RUN: %photofinish run -v -e tree,threads=2:multilock -- %t 2>&1 | %FileCheck %s --check-prefix=LOST
// LOST-NOT: race:
// LOST: tree,threads=2:multilock: 0 races
// LOST: tree saw {{[0-9,]+}} events, dropped {{[1-9][0-9,]*}}, state
// LOST: dropped: seen by two threads {{ *[1-9]}}
// In contexts that differ, nothing is dropped: each thread has received something of its own.
// RUN: %with tree,threads=2:multilock %race %t apart | %FileCheck %s --check-prefix=APART
// APART: race: write-write on global shared
#include <semaphore.h>

#include "order.h"

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t start[3];

// Threads begin and end while nobody works: memory that begins a life may share its mark with that of `shared`.
bool apart;
void* work(void* semaphore) {
  const auto number = static_cast<int>(static_cast<sem_t*>(semaphore) - start);
  order_wait(10 + number);
  if (apart) sem_wait(&start[number]);
  pthread_mutex_lock(&mutex);
  shared = 1;
  pthread_mutex_unlock(&mutex);
  order_arrive();
  order_wait(13);
  return nullptr;
}

int main(int count, char**) {
  apart = count > 1;
  pthread_t threads[3];
  for (sem_t& s : start) sem_init(&s, 0, 0);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], nullptr, work, &start[i]);
  order_done(10);
  for (int i = 0; i < 3 && apart; i++) {
    order_wait(10 + i);
    sem_post(&start[i]);
  }
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
  shared = 2;
  pthread_join(threads[2], nullptr);
}
