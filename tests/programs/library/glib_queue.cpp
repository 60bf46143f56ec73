// GLib is not instrumented, and its mutexes are its own: ThreadSanitizer takes what a GAsyncQueue hands over for a race.
// RUN: %cxx -O1 %s %glib -o %t && %cxx -O1 -DRACE %s %glib -o %t.race
// RUN: %with fasttrack %race %t | %FileCheck --check-prefix=UNKNOWN %s
// RUN: %with fasttrack,libs=barrier %norace %t && %with fasttrack,libs=barrier %race %t.race | %FileCheck %s
// RUN: %photofinish -q record -o %t.pft -- %t && %photofinish analyze -e rdit %t.pft
// RUN: %photofinish -q record -o %t.race.pft -- %t.race && %exits 66 %photofinish analyze -e rdit %t.race.pft | %FileCheck %s
// UNKNOWN: race: {{.*}} on heap block of 4 bytes
// CHECK-NOT: heap block
// CHECK: race: write-write on {{(global )?}}racy
#include <glib.h>
#include <pthread.h>

GAsyncQueue *requests, *answers;
int racy;

void* serve(void*) {
  for (int i = 0; i < 10; i++) {
    int* n = static_cast<int*>(g_async_queue_pop(requests));
    ++*n;
    g_async_queue_push(answers, n);
  }
#ifdef RACE
  racy = 1;
#endif
  return nullptr;
}

int main() {
  requests = g_async_queue_new();
  answers = g_async_queue_new();
  pthread_t server;
  pthread_create(&server, nullptr, serve, nullptr);
  int sum = 0;
  for (int i = 0; i < 10; i++) {
    g_async_queue_push(requests, new int(i));
    int* n = static_cast<int*>(g_async_queue_pop(answers));
    sum += *n;
    delete n;
  }
#ifdef RACE
  racy = 2;
#endif
  pthread_join(server, nullptr);
  g_async_queue_unref(requests);
  g_async_queue_unref(answers);
  return sum - 55;
}
