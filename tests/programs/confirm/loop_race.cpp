// Both places in loops, one of them in a section of a lock that the other thread needs on its way: whoever waits inside of it waits in
// vain, so the other one has to. A race of another variable in the same file is not what was asked for.
// RUN: %cxx -O1 %s -o %t
// RUN: %exits 66 %photofinish run -e multilock -r json:%t.json -- %t
// RUN: grep '"name":"sum"' %t.json | head -1 > %t.sum
// RUN: %exits 66 %photofinish confirm %t.sum -- %t | %FileCheck %s
#include <pthread.h>
#include <unistd.h>

int sum, other;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void* inside(void*) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    sum += 1;  // CHECK: race: {{.*}} on global sum
    pthread_mutex_unlock(&mutex);
    other = i;
    usleep(1000);
  }
  return nullptr;
}

void* outside(void*) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sum = 0;
    other = i;
    usleep(1000);
  }
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, &inside, nullptr);
  pthread_create(&threads[1], nullptr, &outside, nullptr);
  for (pthread_t t : threads) pthread_join(t, nullptr);
}
// CHECK: confirmed
