// Two threads add to a balance without a lock, in a program that is not instrumented: found by a clock race, then seen to happen.
// RUN: %plainxx -g %s -o %t
// RUN: env PHOTOFINISH_OPTIONS=halt_on_error=1 %exits 66 %sample -- %t 60 2>&1 | %FileCheck %s
// RUN: %plainxx -g -no-pie %s -o %t
// RUN: env PHOTOFINISH_OPTIONS=halt_on_error=1 %exits 66 %sample -- %t 60 2>&1 | %FileCheck %s
// CHECK: race: {{.*}} on global balance of 8 bytes (clockrace, confirmed
// CHECK: deposit {{.*}}[[FILE]]:
// CHECK: deposit {{.*}}[[FILE]]:
// CHECK: created by main thread at
// CHECK: main {{.*}}[[FILE]]:
#include <chrono>
#include <cstdlib>
#include <thread>

#include "until.h"

long balance, amounts[64];

[[gnu::noinline]] void deposit(long amount) { balance = balance + amount; }

[[gnu::noinline]] long busy(long x) {
  for (int i = 0; i < 50; ++i) x = x * 6364136223846793005L + amounts[x & 63];
  return x;
}

int main(int, char** argv) {
  const timespec start = start_time();
  const int limit = std::atoi(argv[1]);
  const auto work = [&] {
    for (long x = 1; seconds_since(&start) < limit;) {
      x = busy(x);
      deposit(x & 1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // lets the other one in, on a busy machine, too
    }
  };
  std::thread other(work);
  work();
  other.join();
}
