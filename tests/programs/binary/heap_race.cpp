// Of a block on the heap nobody knows where it begins, in a program that is not instrumented: its memory is called the heap's.
// RUN: %plainxx -g %s -o %t
// RUN: env PHOTOFINISH_OPTIONS=halt_on_error=1 %exits 66 %sample -- %t 60 2>&1 | %FileCheck %s
// CHECK: race: {{.*}} on heap memory (clockrace, confirmed
// CHECK: deposit {{.*}}[[FILE]]:
#include <chrono>
#include <cstdlib>
#include <thread>

#include "until.h"

struct Account {
  long owner, balance;
};

[[gnu::noinline]] void deposit(Account* account, long amount) { account->balance = account->balance + amount; }

int main(int, char** argv) {
  const timespec start = start_time();
  const int limit = std::atoi(argv[1]);
  auto* account = new Account{1, 0};
  const auto work = [&] {
    while (seconds_since(&start) < limit) {
      for (long n = 0; n < 200; ++n) deposit(account, n);
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // lets the other one in, on a busy machine, too
    }
  };
  std::thread other(work);
  work();
  other.join();
  delete account;
}
