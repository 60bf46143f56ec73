// A GThreadPool: its threads begin in GLib and call the program back. What is pushed is the worker's, what the workers did is known when the pool
// is gone; two workers at the same time are not ordered by either.
// RUN: %cxx -O1 %s %glib -o %t && %cxx -O1 -DRACE %s %glib -o %t.race
// RUN: %with fasttrack %race %t | %FileCheck --check-prefix=UNKNOWN %s
// RUN: %with fasttrack,libs=barrier %norace %t && %with fasttrack,libs=barrier %race %t.race | %FileCheck %s
// RUN: %photofinish -q record -o %t.pft -- %t && %photofinish analyze -e rdit %t.pft
// RUN: %photofinish -q record -o %t.race.pft -- %t.race && %exits 66 %photofinish analyze -e rdit %t.race.pft | %FileCheck %s
// UNKNOWN: race: {{.*}} on
// CHECK-NOT: results
// CHECK: race: write-write on {{(global )?}}racy
#include "order.h"
#include <glib.h>

int results[16];
int racy;

static void work(gpointer item, gpointer) {
  int* n = static_cast<int*>(item);
  results[*n] = *n;
#ifdef RACE
  if (*n < 2) {  // two of them at once
    order_arrive();
    order_wait(2);
    racy = *n;
    order_arrive();
    order_wait(4);
  }
#endif
  delete n;
}

int main() {
  GThreadPool* pool = g_thread_pool_new(work, nullptr, 3, TRUE, nullptr);
  for (int i = 0; i < 16; i++) g_thread_pool_push(pool, new int(i), nullptr);
  g_thread_pool_free(pool, FALSE, TRUE);
  int sum = 0;
  for (const int r : results) sum += r;
  return sum - 120;
}
