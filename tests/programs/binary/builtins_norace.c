// Atomics by the compiler's builtins leave no trace in debug information: what collides there is a suspect, since its source line shows them.
// RUN: %plaincc -g %s -o %t
// RUN: %exits 0 %sample -- %t 3 2>&1 | %FileCheck %s
// CHECK-NOT: {{^}}race:
// CHECK: 0 races
#include <pthread.h>
#include <stdlib.h>

#include "until.h"

static long counter;
static struct timespec start;
static int limit;

static void* work(void* unused) {
  while (seconds_since(&start) < limit) {
    for (int i = 0; i < 1000; ++i) {
      const long before = __atomic_load_n(&counter, __ATOMIC_RELAXED);
      __atomic_store_n(&counter, before + 1, __ATOMIC_RELAXED);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  start = start_time();
  limit = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  work(NULL);
  pthread_join(other, NULL);
}
