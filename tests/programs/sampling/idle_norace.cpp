// Between periods most synchronization changes nothing and is not told to anybody: exchanges, compare-exchanges and stores of threads that
// know the same are made without the lock of their atomic. What does change something, because a period was in between, must
// not be lost among them, nor come between their halves: here everything is ordered by them, in many ways.
// RUN: %cxx -O1 %s -o %t
// RUN: %with pacer,rate=50%%,period=3 %norace %t
// RUN: %with pacer,rate=10%%,period=40 %norace %t
// RUN: %with pacer,rate=0%% %norace %t
// RUN: %with fasttrack %norace %t
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kThreads = 3;
constexpr long kRounds = 8000;

// A lock of an exchange and a store, of a compare-exchange and an exchange, and one of relaxed operations between fences.
std::atomic<bool> by_exchange{false};
std::atomic<long> by_compare{0}, by_fences{0};
long guarded[3];

void count_by_exchange() {
  while (by_exchange.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  ++guarded[0];
  by_exchange.store(false, std::memory_order_release);
}
void count_by_compare() {
  for (long free = 0; !by_compare.compare_exchange_weak(free, 1, std::memory_order_acq_rel, std::memory_order_relaxed);
       free = 0)
    std::this_thread::yield();
  ++guarded[1];
  by_compare.exchange(0, std::memory_order_release);
}
void count_by_fences() {
  for (long free = 0; !by_fences.compare_exchange_strong(free, 1, std::memory_order_relaxed); free = 0)
    std::this_thread::yield();
  std::atomic_thread_fence(std::memory_order_acquire);
  ++guarded[2];
  std::atomic_thread_fence(std::memory_order_release);
  by_fences.store(0, std::memory_order_relaxed);
}

// Who lets go last destroys: a release sequence of read-modify-writes of all threads.
struct Shared {
  std::atomic<int> owners{kThreads};
  long value[kThreads] = {};
};
std::atomic<Shared*> blocks[kRounds / 100];
void use(long i, int own) {
  Shared* s = blocks[i].load(std::memory_order_acquire);
  s->value[own] = i;
  if (s->owners.fetch_sub(1, std::memory_order_release) != 1) return;
  std::atomic_thread_fence(std::memory_order_acquire);
  for (const long v : s->value) {
    if (v != i) std::abort();
  }
  delete s;
}

pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
long seldom_written;

void work(int own) {
  long sum = 0;
  for (long i = 0; i < kRounds; ++i) {
    count_by_exchange();
    count_by_compare();
    count_by_fences();
    if (i % 100 == 0) use(i / 100, own);
    const bool writes = i % 64 == own;
    writes ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock);
    sum += writes ? ++seldom_written : seldom_written;
    pthread_rwlock_unlock(&rwlock);
  }
  if (sum == 0) std::abort();
}

int main() {
  for (auto& b : blocks) b = new Shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (auto& t : threads) t.join();
  for (const long g : guarded) {
    if (g != kThreads * kRounds) std::abort();
  }
}
