// An exception thrown in one thread and thrown again in another: the object is handed over by join, its count is atomic.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

int main() {
  std::exception_ptr problem;
  std::thread thread([&problem] {
    try {
      throw std::runtime_error("from the thread");
    } catch (...) {
      problem = std::current_exception();
    }
  });
  thread.join();
  try {
    std::rethrow_exception(problem);
  } catch (const std::runtime_error& error) {
    return error.what() == std::string("from the thread") ? 0 : 1;
  }
}
