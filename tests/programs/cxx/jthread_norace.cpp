// std::jthread: a stop request orders what came before it, callbacks run in the requester, and the destructor joins.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include <stop_token>
#include <thread>

int shared;

int main() {
  int called = 0;
  {
    std::jthread thread([](std::stop_token token) {
      while (!token.stop_requested()) std::this_thread::yield();
      shared++;
    });
    std::stop_callback callback(thread.get_stop_token(), [&called] { called++; });
    shared = 1;
    thread.request_stop();
  }
  return shared == 2 && called == 1 ? 0 : 1;
}
