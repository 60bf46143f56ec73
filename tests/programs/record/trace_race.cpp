// A trace of a program with a race has it, with the program's names; so has one without values.
// RUN: %cxx -O1 %s -o %t && %exits 7 %photofinish record -o %t.pft -- %t | %FileCheck --check-prefix=SAID %s
// RUN: %photofinish trace check %t.pft && %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: %exits 7 %photofinish -q record --no-values -o %t.pft -- %t && %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// SAID: recorded {{[0-9]+}} events of 3 threads
#include <pthread.h>

int guarded, racy;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void* work(void*) {
  pthread_mutex_lock(&mutex);
  ++guarded;
  pthread_mutex_unlock(&mutex);
  racy = 1;  // CHECK: race: write-write on racy (fasttrack, real
  return nullptr;
}

int main() {
  pthread_t threads[2];
  for (pthread_t& t : threads) pthread_create(&t, nullptr, &work, nullptr);
  for (pthread_t& t : threads) pthread_join(t, nullptr);
  return 7;  // CHECK: #0 work {{.*}}trace_race.cpp:15
}
// CHECK: fasttrack: 1 race
