// Every mutex of the C++ library, held by every guard.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <chrono>
#include <mutex>
#include <shared_mutex>

using namespace std::chrono_literals;

int shared[6];
std::mutex plain;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::recursive_timed_mutex recursive_timed;
std::shared_mutex readers;
std::shared_timed_mutex timed_readers;

static void work() {
  for (int i = 0; i < 10; i++) {
    {
      std::lock_guard lock(plain);
      shared[0]++;
    }
    {
      std::lock_guard outer(recursive), inner(recursive);
      shared[1]++;
    }
    {
      std::unique_lock lock(timed, 1h);
      shared[2]++;
    }
    if (recursive_timed.try_lock_until(std::chrono::steady_clock::now() + 1h)) {
      shared[3]++;
      recursive_timed.unlock();
    }
    {
      std::unique_lock lock(readers);
      shared[4]++;
    }
    {
      std::shared_lock lock(readers);
      use(shared[4]);
    }
    {
      std::unique_lock lock(timed_readers, 1h);
      shared[5]++;
    }
    {
      std::shared_lock lock(timed_readers, 1h);
      use(shared[5]);
    }
    std::scoped_lock all(plain, timed, readers);
    shared[0]++;
    shared[2]++;
    shared[4]++;
  }
}

int main() {
  together(work, work);
  return shared[0] - 2 * shared[1];
}
