// A library without instrumentation, whose queue of one item waits by raw system calls: what it orders is no race with libs=barrier, and none
// in a recorded trace for rdit. Plain happens-before cannot know that. A race beside it is found.
// RUN: %plainxx -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %cxx -O1 %s %t.so -o %t && %cxx -O1 -DRACE %s %t.so -o %t.race
// RUN: %with fasttrack %race %t | %FileCheck --check-prefix=UNKNOWN %s
// RUN: %with "fasttrack,libs=barrier fasttrack,libs=arguments tree:fasttrack,libs=barrier" %norace %t | %FileCheck --check-prefix=SILENT %s
// RUN: %with "fasttrack,libs=barrier fasttrack,libs=arguments" %race %t.race | %FileCheck %s
// RUN: %exits 0 %photofinish run -e fasttrack,libs=barrier,show -- %t | %FileCheck --check-prefix=SHOWN %s
// RUN: %exits 66 %photofinish run -e fasttrack,libs=barrier,known=queue_* -- %t | %FileCheck --check-prefix=UNKNOWN %s
// RUN: %photofinish -q record -o %t.pft -- %t && %photofinish trace check %t.pft && %photofinish trace cat %t.pft | %FileCheck --check-prefix=TRACE %s
// RUN: %photofinish analyze -e rdit %t.pft && %photofinish analyze -e fasttrack,libs=barrier %t.pft && %exits 66 %photofinish analyze %t.pft
// RUN: %photofinish -q record -o %t.race.pft -- %t.race && %exits 66 %photofinish analyze -e rdit %t.race.pft | %FileCheck %s
// RUN: %photofinish -q record --libs none -o %t.none.pft -- %t && %photofinish trace cat %t.none.pft | not grep miss
// RUN: %exits 66 %photofinish analyze -e rdit %t.none.pft
// RUN: %exits 2 %photofinish run -e literace:fasttrack,libs=barrier -- %t | %FileCheck --check-prefix=SAMPLING %s
// RUN: %exits 2 %photofinish run -e fasttrack,libs=all -- %t | %FileCheck --check-prefix=WRONG %s
// SAMPLING: with libs no sampling filter works in front of 'fasttrack'
// WRONG: option 'libs' of 'fasttrack' needs one of barrier|arguments, not 'all'
// UNKNOWN: race: {{.*}} on heap block of 4 bytes
// SILENT: calls into code without instrumentation may have ordered {{[1-9]}}
// SHOWN: suspect: {{.*}} on heap block of 4 bytes
// SHOWN: not called a race: a call into code without instrumentation may have ordered the two
// TRACE: miss(queue_push)
// TRACE-NEXT: reach(0x
// TRACE: back
// CHECK-NOT: heap block
// CHECK: race: write-write on {{(global )?}}racy
#ifdef LIBRARY
#include <atomic>
#include <cstdlib>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

struct Queue {
  std::atomic<int> is_full;
  void* item;
};

static void wait_while(std::atomic<int>& word, int value) {
  while (word.load(std::memory_order_acquire) == value) syscall(SYS_futex, &word, FUTEX_WAIT, value, nullptr);
}
static void set(std::atomic<int>& word, int value) {
  word.store(value, std::memory_order_release);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1);
}

extern "C" Queue* queue_new() { return new (malloc(sizeof(Queue))) Queue{}; }
extern "C" void queue_push(Queue* q, void* item) {
  wait_while(q->is_full, 1);
  q->item = item;
  set(q->is_full, 1);
}
extern "C" void* queue_pop(Queue* q) {
  wait_while(q->is_full, 0);
  void* item = q->item;
  set(q->is_full, 0);
  return item;
}
#else
#include <pthread.h>

extern "C" {
struct Queue;
Queue* queue_new();
void queue_push(Queue*, void*);
void* queue_pop(Queue*);
}

Queue *requests, *answers;
int racy;

void* serve(void*) {
  for (int i = 0; i < 5; i++) {
    int* n = static_cast<int*>(queue_pop(requests));
    ++*n;
    queue_push(answers, n);
  }
#ifdef RACE
  racy = 1;
#endif
  return nullptr;
}

int main() {
  requests = queue_new();
  answers = queue_new();
  pthread_t server;
  pthread_create(&server, nullptr, serve, nullptr);
  int sum = 0;
  for (int i = 0; i < 5; i++) {
    queue_push(requests, new int(i));
    int* n = static_cast<int*>(queue_pop(answers));
    sum += *n;
    delete n;
  }
#ifdef RACE
  racy = 2;
#endif
  pthread_join(server, nullptr);
  return sum - 15;
}
#endif
