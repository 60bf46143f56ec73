// A fence-released store, continued by a relaxed read-modify-write of another thread, taken by an acquire fence.
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
        std::atomic_thread_fence(std::memory_order_release);
        ready.store(1, std::memory_order_relaxed);
        order_done(1);
      },
      [] {
        order_wait(2);
        int seen = ready.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (seen == 2) data = 2;
      });
  pthread_join(thread, nullptr);
  return data - 2;
}
