// Promise, packaged task and async: what came before the value was set may be read after get().
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <future>
#include <thread>

int shared;

int main() {
  std::promise<int> promise;
  std::future<int> value = promise.get_future();
  std::thread one([&promise] {
    shared = 1;
    promise.set_value(10);
  });
  int sum = value.get() + shared;
  one.join();

  std::packaged_task<int()> task([] { return ++shared; });
  std::future<int> result = task.get_future();
  std::thread two(std::move(task));
  sum += result.get() + shared;
  two.join();

  std::future<int> later = std::async(std::launch::async, [] { return ++shared; });
  later.wait();
  sum += later.get() + shared;
  return sum - 21;
}
