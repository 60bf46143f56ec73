// Every load has something to learn, from a thread that publishes all the while: what is learnt must be of the value that was seen
// (runtime/online_host.h, load_at_a_glance), or what that value stands for looks unordered.
// RUN: %cxx -O1 -pthread %s -o %t && %norace %t
#include <atomic>
#include <cstdlib>
#include <thread>

constexpr long kItems = 100'000;
long items[kItems + 1];
std::atomic<long> latest{0};

static void look() {
  long sum = 0;
  for (long seen = 0; seen != kItems;) {
    seen = latest.load(std::memory_order_acquire);
    sum += items[seen];
  }
  if (sum == 0) std::abort();
}

int main() {
  std::thread one(look), two(look);
  for (long n = 1; n <= kItems; ++n) {
    items[n] = n;
    latest.store(n, std::memory_order_release);
  }
  one.join();
  two.join();
}
