// A thread that takes signals by sigwait and answers under a mutex.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sched.h>
#include <signal.h>

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* listen(void* set) {
  int number = 0;
  sigwait(static_cast<sigset_t*>(set), &number);
  pthread_mutex_lock(&mutex);
  shared += number;
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

int main() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  pthread_t thread;
  pthread_create(&thread, nullptr, listen, &set);
  pthread_mutex_lock(&mutex);
  shared = 1;
  pthread_mutex_unlock(&mutex);
  pthread_kill(thread, SIGUSR2);
  pthread_join(thread, nullptr);
  return shared - 1 - SIGUSR2;
}
