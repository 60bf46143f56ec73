// Threads that ended and that nobody joined are told of at the end, once for those made in the same place; not those that
// still run, and not when nobody wants to know.
// RUN: %cxx -O1 %s -o %t && %exits 66 %run %t | %FileCheck %s
// RUN: env TSAN_OPTIONS=report_thread_leaks=0 %norace %t
// CHECK: misuse: thread leak
#include "order.h"
#include <filesystem>
#include <iterator>
#include <unistd.h>

int shared;

static void* end(void*) {
  use(shared);
  return nullptr;
}
// Threads of the process, as the system counts them: when only two are left, all others have ended.
static auto alive() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

static void* stay(void*) {
  for (;;) pause();
}

int main() {
  pthread_t t;
  for (int i = 0; i < 3; i++) pthread_create(&t, nullptr, end, nullptr);  // CHECK: [[FILE]]:[[#@LINE]]
  pthread_create(&t, nullptr, stay, nullptr);
  pthread_create(&t, nullptr, end, nullptr);
  pthread_detach(t);
  while (alive() > 2) sched_yield();
}
// CHECK-NOT: misuse:
