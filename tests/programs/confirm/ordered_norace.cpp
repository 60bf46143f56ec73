// A flag orders the two accesses, read under a lock: simplelock, which sees locks and not why they are taken, suspects them. Both threads
// are steered there in vain.
// RUN: %cxx -O1 %s -o %t
// RUN: %exits 66 %photofinish run -e simplelock,q=0 -r json:%t.json -- %t
// RUN: %exits 0 %photofinish confirm --attempts 6 --delay 20ms %t.json -- %t | %FileCheck %s
// RUN: %exits 0 %photofinish confirm --attempts 1 --json --delay 20ms %t.json -- %t | %FileCheck --check-prefix=JSON %s
#include <pthread.h>
#include <sched.h>

int data, ready;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void* writer(void*) {
  data = 1;
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

void* reader(void*) {
  for (bool is_ready = false; !is_ready; sched_yield()) {
    pthread_mutex_lock(&mutex);
    is_ready = ready != 0;
    pthread_mutex_unlock(&mutex);
  }
  return data == 1 ? nullptr : &data;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, &writer, nullptr);
  pthread_create(&threads[1], nullptr, &reader, nullptr);
  for (pthread_t t : threads) pthread_join(t, nullptr);
}
// CHECK-NOT: race:
// CHECK: not confirmed {{[0-9a-f]+}} in 6 attempts; that is no proof that it cannot happen
// JSON-NOT: "race"
// JSON: {"attempts":1,"id":"{{[0-9a-f]+}}","type":"confirmation","verdict":"unconfirmed"}
