// Threads are made and joined by several threads at once, so that handles are used again at once: each join is of the right thread.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <cstdlib>
#include <thread>
#include <vector>

void make_and_join() {
  for (int i = 0; i < 300; ++i) {
    int result = 0;
    std::thread([&] { result = i; }).join();
    if (result != i) std::abort();
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back(make_and_join);
  for (std::thread& t : threads) t.join();
}
