// Periods begin and end under the load of many threads, from several reasons at once: no false alarm, whatever the moment.
// RUN: %cxx -O1 %s -o %t
// RUN: %with pacer,rate=0 %norace %t 8
// RUN: %with pacer,rate=1%%,period=20 %norace %t 8
// RUN: %with pacer,rate=50%%,period=2 %norace %t 64
// RUN: %with pacer,rate=10%%,period=7 %norace %t 64
// RUN: %with pacer,rate=100%% %norace %t 8
// The load of tests/runtime/toggle, too, which goes on for so many seconds.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

std::mutex lock;
std::shared_mutex shared_lock;
int counter, table[16], published;
std::atomic<int> ready;

void work(int own) {
  for (int i = 0; i < 200; ++i) {
    {
      const std::lock_guard guard(lock);
      ++counter;
    }
    if (i % 16 == own % 16) {
      const std::unique_lock guard(shared_lock);
      table[i % 16] = i;
    } else {
      const std::shared_lock guard(shared_lock);
      if (table[i % 16] == -1) std::abort();
    }
    if (ready.load(std::memory_order_acquire) != 0 && published != 1) std::abort();
    if (i == 100 && own == 0 && ready.load(std::memory_order_relaxed) == 0) {
      published = 1;
      ready.store(1, std::memory_order_release);
    }
    int* mine = new int(i);
    delete mine;
    if (i % 50 == 0)
      std::thread([&] {
        const std::lock_guard guard(lock);
        ++counter;
      }).join();
  }
}

int main(int count, char** arguments) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(count > 2 ? std::atoi(arguments[2]) : 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(arguments[1]); ++i) {
    threads.emplace_back([i, end] {
      do work(i);
      while (Clock::now() < end);
    });
  }
  for (std::thread& t : threads) t.join();
}
