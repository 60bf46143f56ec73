// Signals of all kinds, faster than they are handled, at threads that lock and allocate: none is lost for good, none is
// handled while it is blocked, and nothing crashes.
// RUN: %cxx -O1 %s -o %t && %norace %t | %FileCheck %s
#include "order.h"
#include <atomic>
#include <mutex>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

std::atomic<int> handled, nested;
thread_local std::atomic<int> depth[65];
std::atomic<bool> stop;
std::mutex mutex;
long shared;

static void handle(int number) {
  if (depth[number]++ != 0) nested++;
  handled++;
  depth[number]--;
}

static void* work(void*) {
  while (!stop) {
    std::lock_guard guard(mutex);
    shared++;
    free(malloc(static_cast<size_t>(shared % 100)));
  }
  return nullptr;
}

int main() {
  signal(SIGUSR1, handle);
  signal(SIGRTMIN, handle);
  pthread_t threads[2];
  for (pthread_t& t : threads) pthread_create(&t, nullptr, work, nullptr);
  for (int i = 0; i < 5000; i++) {
    pthread_kill(threads[i % 2], i % 3 != 0 ? SIGUSR1 : SIGRTMIN);
    if (i % 8 == 0) kill(getpid(), SIGUSR1);
  }
  stop = true;
  for (pthread_t t : threads) pthread_join(t, nullptr);
  printf("handled %d, nested %d\n", handled > 0, nested.load());  // CHECK: handled 1, nested 0
}
