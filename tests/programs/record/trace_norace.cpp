// Nothing is found in the trace of a program without a race: locks, conditions, barriers, atomics, and memory that is used again.
// RUN: %cxx -O1 %s -o %t && %photofinish -q record -o %t.pft -- %t && %photofinish trace check %t.pft
// RUN: %photofinish analyze -e fasttrack -e generic -e shb %t.pft
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

std::mutex mutex;
std::condition_variable changed;
std::vector<std::unique_ptr<int>> queue;
std::atomic<bool> done;
int result;
pthread_barrier_t barrier;
int sums[2];

void consume() {
  for (int taken = 0; taken < 500; ++taken) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return !queue.empty(); });
    result += *queue.back();
    queue.pop_back();
  }
  done.store(true, std::memory_order_release);
}

void add(int self) {
  for (int round = 0; round < 50; ++round) {
    sums[self] += sums[1 - self] & 1;  // of the round before
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
}

int main() {
  std::thread consumer(&consume);
  for (int i = 0; i < 500; ++i) {
    const std::lock_guard lock(mutex);
    queue.push_back(std::make_unique<int>(i));
    changed.notify_one();
  }
  while (!done.load(std::memory_order_acquire)) std::this_thread::yield();
  const int total = result;
  consumer.join();
  pthread_barrier_init(&barrier, nullptr, 1);
  for (int round = 0; round < 20; ++round) {  // stacks are used again
    std::thread a([] { add(0); });
    a.join();
    std::thread([] {
      volatile char room[4096];
      for (volatile char& c : room) c = 1;
    }).join();
  }
  return total == 500 * 499 / 2 ? 0 : 1;
}
