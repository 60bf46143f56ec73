// A thread cancelled in pthread_cond_wait owns the mutex again in its cleanup handler.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void clean_up(void*) {
  shared++;
  pthread_mutex_unlock(&mutex);
}
static void* work(void*) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean_up, nullptr);
  order_done(1);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  order_wait(1);
  pthread_mutex_lock(&mutex);  // only free while the thread waits
  shared++;
  pthread_cancel(thread);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&mutex);
  shared++;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
  return shared - 3;
}
