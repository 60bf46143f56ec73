// Two writes of which the second thread is created after the first was joined: fork and join order them.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <initializer_list>
#include <pthread.h>

int shared;

static void* write(void* value) {
  shared = *static_cast<int*>(value);
  return nullptr;
}

int main() {
  for (int value : {1, 2}) {
    pthread_t thread;
    pthread_create(&thread, nullptr, write, &value);
    pthread_join(thread, nullptr);
  }
  return shared == 2 ? 0 : 1;
}
