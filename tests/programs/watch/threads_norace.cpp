// Thousands of threads at once, with slots that change all the time.
// RUN: %cxx -O1 %s -o %t && %with "clockrace,rate=100%% collision,rate=100%%,delay=100us" %norace %t
#include <mutex>
#include <thread>
#include <vector>

std::mutex lock;
int counter;

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2000; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 20; ++n) {
        const std::lock_guard guard(lock);
        ++counter;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}
