// Two threads take turns at a balance under a mutex, in a program that is not instrumented: not even a suspect, since giving the lock up is seen.
// RUN: %plainxx -g %s -o %t
// RUN: %exits 0 %sample -- %t 4 2>&1 | %FileCheck %s
// CHECK-NOT: {{^}}{{race|suspect}}:
// CHECK: 0 races
// CHECK-NOT: suspect
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "until.h"

long balance;
std::mutex mutex;

[[gnu::noinline]] void deposit(long amount) {
  const std::lock_guard guard(mutex);
  balance = balance + amount;
}

int main(int, char** argv) {
  const timespec start = start_time();
  const int limit = std::atoi(argv[1]);
  const auto work = [&] {
    while (seconds_since(&start) < limit) {
      deposit(1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // lets the other one in, on a busy machine, too
    }
  };
  std::thread other(work);
  work();
  other.join();
}
