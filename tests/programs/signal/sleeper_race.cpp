// A handler runs in a thread that sleeps in pthread_join, and does not come after what all who are awake know: so that is not forgotten.
// RUN: %cxx -O1 %s -o %t && env PHOTOFINISH_OPTIONS=forget=2 %race %t | %FileCheck %s
#include "order.h"
#include <signal.h>
#include <sys/time.h>

char shared[8];  // CHECK: race: write-write on global shared of 8 bytes
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void let_go() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void* work(void*) {
  shared[0] = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  for (int i = 0; i < 3; ++i) {
    let_go();
    shared[4 + i] = 1;
  }
  order_done(1);
  order_wait(2);
  return nullptr;
}

static void handle(int) {
  order_wait(1);
  shared[0] = 2;  // CHECK: #0 handle{{.*}}[[FILE]]:[[#@LINE]]
  order_done(2);
}

int main() {
  signal(SIGALRM, handle);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, nullptr);  // in the worker
  pthread_t worker;
  pthread_create(&worker, nullptr, work, nullptr);
  const itimerval soon = {{0, 0}, {0, 200'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  pthread_join(worker, nullptr);
}
