// Who is cancelled in an endless wait does not come after what all who are awake know. That is kept from when the program has shown that
// sleepers may act without being told: it has cancelled somebody, shares a condition with other processes, or has notified in secret.
// RUN: %cxx -O1 %s -o %t
// RUN: env PHOTOFINISH_OPTIONS=forget=2 %race %t cancels | %FileCheck %s
// RUN: env PHOTOFINISH_OPTIONS=forget=2 %race %t shares | %FileCheck %s
// RUN: env PHOTOFINISH_OPTIONS=forget=2 %race %t hides | %FileCheck %s
#include "order.h"
#include <string.h>

extern "C" void AnnotateIgnoreSyncBegin(const char* file, int line);
extern "C" void AnnotateIgnoreSyncEnd(const char* file, int line);

char shared[8];  // CHECK: race: write-write on global shared of 8 bytes
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, mutex_of_others = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void* work(void*) {
  shared[0] = 1;  // CHECK: #0 work{{.*}}[[FILE]]:[[#@LINE]]
  return nullptr;
}

static void at_the_end(void* writes) {
  if (writes != nullptr) shared[0] = 2;  // CHECK: #0 at_the_end{{.*}}[[FILE]]:[[#@LINE]]
  pthread_mutex_unlock(&mutex);
}
static void* sleep_on(void* writes) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(at_the_end, writes);
  order_arrive();
  for (;;) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(0);
}
static pthread_t sleeper(int number, void* writes) {
  pthread_t thread;
  pthread_create(&thread, nullptr, sleep_on, writes);
  order_wait(number);
  pthread_mutex_lock(&mutex);  // then it waits
  pthread_mutex_unlock(&mutex);
  return thread;
}
static void cancel(pthread_t thread) {
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
}

static void share_a_condition() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  static pthread_cond_t condition;
  pthread_cond_init(&condition, &attributes);
}
static void notify_in_secret() {
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  pthread_cond_signal(&condition);
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

int main(int, char** arguments) {
  const bool cancels = strcmp(arguments[1], "cancels") == 0;
  if (cancels) cancel(sleeper(1, nullptr));
  if (strcmp(arguments[1], "shares") == 0) share_a_condition();
  if (strcmp(arguments[1], "hides") == 0) notify_in_secret();
  const pthread_t cancelled = sleeper(cancels ? 2 : 1, &shared);
  pthread_t worker;
  pthread_create(&worker, nullptr, work, nullptr);
  pthread_join(worker, nullptr);
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(&mutex_of_others);
    pthread_mutex_unlock(&mutex_of_others);
    shared[4 + i] = 1;
  }
  cancel(cancelled);
}
