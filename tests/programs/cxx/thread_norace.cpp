// std::thread: arguments are copied in, results come back by join, threads are moved about.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <functional>
#include <string>
#include <thread>
#include <vector>

static void work(const std::string& text, int& result) { result = static_cast<int>(text.size()); }

int main() {
  int results[3] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(work, std::string(100, 'x'), std::ref(results[i]));
  for (std::thread& thread : threads) thread.join();
  return results[0] + results[1] + results[2] - 300;
}
