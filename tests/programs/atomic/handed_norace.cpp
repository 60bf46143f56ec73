// Data that threads hand to each other many times, by each kind of atomic and by locks, all of them at it at once: those who only look, those
// who learn, those who change (runtime/objects.h). Two threads, then so many that their clocks need memory of their own.
// RUN: %cxx -O1 -pthread %s -o %t && %norace %t
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

constexpr int kRounds = 2000;

// Whose turn it is hands on everything the threads wrote.
template <class Pass>
void in_turns(int threads, Pass pass) {
  std::atomic<int> turn{0};
  long data = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (int n = i; n < kRounds; n += threads) {
        while (turn.load(std::memory_order_acquire) != n) std::this_thread::yield();
        ++data;
        pass(turn, n);
      }
    });
  }
  for (std::thread& t : all) t.join();
  if (data != kRounds) std::abort();
}

template <class Lock>
void under(Lock& lock, int threads) {
  long data = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int n = 0; n < kRounds; ++n) {
        const std::lock_guard guard(lock);
        ++data;
      }
    });
  }
  for (std::thread& t : all) t.join();
}

int main() {
  for (const int threads : {2, 7}) {
    in_turns(threads, [](auto& turn, int n) { turn.store(n + 1, std::memory_order_release); });
    in_turns(threads, [](auto& turn, int) { turn.fetch_add(1, std::memory_order_release); });
    in_turns(threads, [](auto& turn, int n) { turn.compare_exchange_strong(n, n + 1, std::memory_order_release); });
    in_turns(threads, [](auto& turn, int n) {
      // A release sequence, of which a relaxed operation is part.
      turn.fetch_add(1 << 20, std::memory_order_release);
      turn.fetch_sub((1 << 20) - 1, std::memory_order_relaxed);
      (void)n;
    });
    in_turns(threads, [](auto& turn, int n) {
      std::atomic_thread_fence(std::memory_order_release);
      turn.store(n + 1, std::memory_order_relaxed);
    });
    std::mutex mutex;
    under(mutex, threads);
    std::shared_mutex shared;
    under(shared, threads);
    long data = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        for (int n = 0; n < kRounds; ++n) {
          if (n % threads == i) {
            const std::lock_guard guard(shared);
            ++data;
          } else {
            const std::shared_lock guard(shared);
            if (data < 0) std::abort();
          }
        }
      });
    }
    for (std::thread& t : all) t.join();
  }
}
