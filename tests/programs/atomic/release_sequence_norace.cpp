// A relaxed read-modify-write of another thread continues the release sequence: who reads it takes from the release.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit generic shb" %norace %t
#include "order.h"
#include <atomic>

int data;
std::atomic<int> ready;

static void* middle(void*) {
  order_wait(1);
  ready.fetch_add(1, std::memory_order_relaxed);
  order_done(2);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, middle, nullptr);
  together(
      [] {
        data = 1;
        ready.store(1, std::memory_order_release);
        order_done(1);
      },
      [] {
        order_wait(2);
        if (ready.load(std::memory_order_acquire) == 2) data = 2;
      });
  pthread_join(thread, nullptr);
  return data - 2;
}
