// One release fence covers all later stores and one acquire fence all earlier loads of its thread.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit generic shb" %norace %t
#include "order.h"
#include <atomic>

int data[2];
std::atomic<int> ready[2];

static void* middle(void*) {
  order_wait(1);
  data[1] = 1;
  std::atomic_thread_fence(std::memory_order_release);
  ready[1].store(1, std::memory_order_relaxed);
  order_done(2);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, middle, nullptr);
  together(
      [] {
        data[0] = 1;
        std::atomic_thread_fence(std::memory_order_release);
        ready[1].store(5, std::memory_order_relaxed);
        ready[0].store(1, std::memory_order_relaxed);
        order_done(1);
      },
      [] {
        order_wait(2);
        int seen = ready[0].load(std::memory_order_relaxed) + ready[1].load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (seen == 2) data[0] += data[1];
      });
  pthread_join(thread, nullptr);
  return data[0] - 2;
}
