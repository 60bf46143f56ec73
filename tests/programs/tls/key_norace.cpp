// Destructors of pthread keys, one of which sets its key again, are over when the join returns.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int rounds;
pthread_key_t key;

static void destroy(void* value) {
  if (++rounds < 3) pthread_setspecific(key, value);
}
static void* work(void*) {
  pthread_setspecific(key, &rounds);
  return nullptr;
}

int main() {
  pthread_key_create(&key, destroy);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_join(thread, nullptr);
  pthread_key_delete(key);
  return rounds - 3;
}
