// std::condition_variable and condition_variable_any, with predicates, time limits and a stop token.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

int turn, shared;
std::mutex mutex;
std::shared_mutex any_mutex;
std::condition_variable condition;
std::condition_variable_any any;

static void play(int me) {
  for (int i = 0; i < 5; i++) {
    std::unique_lock lock(mutex);
    condition.wait(lock, [me] { return turn % 2 == me; });
    shared++;
    turn++;
    condition.notify_all();
    condition.wait_for(lock, 1h, [me] { return turn % 2 == me || turn == 10; });
  }
}

int main() {
  together([] { play(0); }, [] { play(1); });
  bool ready = false;
  std::jthread thread([&ready](std::stop_token token) {
    std::unique_lock lock(any_mutex);
    any.wait(lock, token, [&ready] { return ready; });
    shared++;
  });
  {
    std::unique_lock lock(any_mutex);
    shared++;
    ready = true;
  }
  any.notify_one();
  thread.join();
  return shared - 12;
}
