// Whoever takes a mutex last may destroy and free it, and a condition or a barrier once nobody is blocked there: what the
// others did to it before comes before.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

struct Shared {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_rwlock_t rwlock;
  int users = 2;
  bool ready = false;
};
Shared* shared;
pthread_barrier_t barrier;

static void work() {
  pthread_rwlock_rdlock(&shared->rwlock);
  pthread_rwlock_unlock(&shared->rwlock);
  pthread_mutex_lock(&shared->mutex);
  const bool is_last = --shared->users == 0;
  if (is_last) {
    shared->ready = true;
    pthread_cond_signal(&shared->condition);
    pthread_cond_destroy(&shared->condition);  // who waits is not blocked any more
  }
  while (!shared->ready) pthread_cond_wait(&shared->condition, &shared->mutex);
  const bool frees = shared->users++ == 1;  // the other is through
  pthread_mutex_unlock(&shared->mutex);
  if (frees) {
    pthread_mutex_destroy(&shared->mutex);
    pthread_rwlock_wrlock(&shared->rwlock);
    pthread_rwlock_unlock(&shared->rwlock);
    pthread_rwlock_destroy(&shared->rwlock);
    delete shared;
  }
}

static void meet() {
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) pthread_barrier_destroy(&barrier);
}

int main() {
  shared = new Shared;
  pthread_mutex_init(&shared->mutex, nullptr);
  pthread_cond_init(&shared->condition, nullptr);
  pthread_rwlock_init(&shared->rwlock, nullptr);
  together(work, work);
  pthread_barrier_init(&barrier, nullptr, 2);
  together(meet, meet);
}
