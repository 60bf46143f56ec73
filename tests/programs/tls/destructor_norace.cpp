// Destructors of thread_local objects are over when the join returns; every thread has an object of its own.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <mutex>
#include <string>
#include <thread>

size_t total;
std::mutex mutex;

struct Local {
  std::string text = std::string(100, 'x');
  ~Local() {
    std::lock_guard lock(mutex);
    total += text.size();
  }
};
thread_local Local local;

int main() {
  std::thread one([] { local.text += 'y'; }), two([] { local.text += "yy"; });
  one.join();
  two.join();
  return static_cast<int>(total) - 203;
}
