// Less than everything: modules and functions by name, the beginning, the end.
// RUN: %cxx -O1 %s -o %t
// RUN: %photofinish -q record --exclude noisy -o %t.pft -- %t && %photofinish trace check %t.pft && %photofinish analyze %t.pft
// RUN: %photofinish -q record --include noisy -o %t.pft -- %t && %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: %photofinish -q record --exclude '*parts*' -o %t.pft -- %t && %photofinish analyze %t.pft
// RUN: %photofinish record --limit 500k -o %t.pft -- %t 2>&1 | %FileCheck --check-prefix=LIMIT %s
// RUN: %photofinish trace check %t.pft && %photofinish analyze %t.pft
// LIMIT: the trace lacks the rest of the program, for the recording has reached its limit
// RUN: %photofinish record --ring 3M -o %t.pft -- %t 2>&1 | %FileCheck --check-prefix=RING %s
// RUN: %photofinish trace check %t.pft && %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: %exits 66 %photofinish analyze -e multilock %t.pft | %FileCheck %s
// RING: the ring was full: the trace has the end of the program
// RUN: %exits 2 %photofinish record --ring 3M --limit 3M -o %t.pft -- %t | %FileCheck --check-prefix=BOTH %s
// BOTH: --limit and --ring: one of them
#include <mutex>
#include <pthread.h>
#include <thread>

std::mutex whole, part;
pthread_barrier_t end;  // both threads are there: what follows is in the ring
int guarded, busy[1000];
int racy;

[[gnu::noinline]] void noisy() { racy = 1; }

void work() {
  for (int round = 0; round < 300; ++round) {
    const std::lock_guard lock(part);
    ++guarded;
    for (int& b : busy) ++b;
  }
  pthread_barrier_wait(&end);
  noisy();  // CHECK: race: {{.*}} on racy
}

int main() {
  const std::lock_guard lock(whole);  // held from beginning to end
  pthread_barrier_init(&end, nullptr, 2);
  std::thread a(&work), b(&work);
  a.join();
  b.join();
}
