// Readers poll what a writer publishes again and again, between periods and in them: what a load saw and what it learned must be of
// one moment, though it looks at the atomic without its lock.
// RUN: %cxx -O1 %s -o %t
// RUN: %with pacer,rate=50%%,period=3 %norace %t
// RUN: %with pacer,rate=10%%,period=40 %norace %t
// RUN: %with fasttrack %norace %t
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

constexpr long kRounds = 30000;
long value[64];
std::atomic<long> latest, seen_by[2];
std::mutex locks[2];
long guarded[2];

void publish() {
  for (long i = 1; i <= kRounds; ++i) {
    while (seen_by[0].load(std::memory_order_acquire) < i - 32 || seen_by[1].load(std::memory_order_acquire) < i - 32)
      std::this_thread::yield();
    value[i % 64] = i;
    latest.store(i, std::memory_order_release);
    const std::lock_guard guard(locks[i % 2]);
    ++guarded[i % 2];
  }
}

void follow(int own) {
  for (long done = 0; done < kRounds;) {
    const long i = latest.load(std::memory_order_acquire);
    if (i == done) std::this_thread::yield();
    for (; done < i; ++done) {
      if (value[(done + 1) % 64] != done + 1) std::abort();
    }
    seen_by[own].store(done, std::memory_order_release);
    const std::lock_guard guard(locks[own]);
    ++guarded[own];
  }
}

int main() {
  std::thread writer(publish), first(follow, 0), second(follow, 1);
  writer.join();
  first.join();
  second.join();
}
