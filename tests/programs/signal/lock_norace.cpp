// Signals that arrive while a thread waits for a mutex, and while it holds it; the handler touches atomics only.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>
#include <signal.h>

int shared;
std::atomic<int> handled;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handle(int) { handled++; }
static void* wait_for_it(void*) {
  order_done(1);
  pthread_mutex_lock(&mutex);
  shared++;
  raise(SIGUSR1);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

int main() {
  signal(SIGUSR1, handle);
  pthread_mutex_lock(&mutex);
  shared++;
  pthread_t thread;
  pthread_create(&thread, nullptr, wait_for_it, nullptr);
  order_wait(1);
  for (int i = 0; i < 10; i++) pthread_kill(thread, SIGUSR1);
  raise(SIGUSR1);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
  return shared == 2 && handled >= 3 ? 0 : 1;
}
