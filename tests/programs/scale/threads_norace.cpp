// Ten thousand threads one after the other, then three hundred alive at once.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared, alive;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* once(void*) {
  shared++;
  return nullptr;
}
static void* stay(void*) {
  pthread_mutex_lock(&mutex);
  alive++;
  pthread_mutex_unlock(&mutex);
  order_arrive();
  order_wait(300);
  return nullptr;
}

int main() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 * 1024);
  for (int i = 0; i < 10000; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, once, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  pthread_t threads[300];
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, &small, stay, nullptr) != 0) return 1;
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return shared - 10000 + alive - 300;
}
