// Eight threads that share memory of all kinds in all the ways that are ordered, by happens-before: hybrids call what a lock hands over potential.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

struct Message {
  int number;
  std::vector<int> load;
};

std::mutex lock;
std::shared_mutex table_lock;
std::condition_variable filled;
std::deque<std::unique_ptr<Message>> queue;
int table[512], published;
long sum;
std::atomic<int> ready;

[[gnu::noinline]] void put(int number) {
  auto message = std::make_unique<Message>(Message{number, std::vector<int>(16, number)});
  const std::lock_guard guard(lock);
  queue.push_back(std::move(message));
  filled.notify_one();
}
[[gnu::noinline]] void take() {
  std::unique_lock guard(lock);
  filled.wait(guard, [] { return !queue.empty(); });
  std::unique_ptr<Message> message = std::move(queue.front());
  queue.pop_front();
  guard.unlock();
  for (int& x : message->load) x += message->number;
  guard.lock();
  sum += message->load.front();
}
[[gnu::noinline]] void look(int i) {
  const std::shared_lock guard(table_lock);
  if (table[i % 512] < 0) std::abort();
}
[[gnu::noinline]] void change(int i) {
  const std::unique_lock guard(table_lock);
  table[i % 512] = i;
}

[[gnu::noinline]] void publish() {
  published = 1;
  ready.store(1, std::memory_order_release);
}
[[gnu::noinline]] void expect() {
  if (ready.load(std::memory_order_acquire) != 0 && published != 1) std::abort();
}

void work(int own) {
  int local[64] = {};
  for (int i = 0; i < 300; ++i) {
    own % 2 == 0 ? put(i) : take();
    i % 8 == own ? change(i) : look(i);
    own == 0 && i == 100 ? publish() : expect();
    if (i % 50 == 0) std::thread([&local, i] { local[i % 64] += i; }).join();
    local[i % 64] += i;
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
  if (sum <= 0) std::abort();
}
