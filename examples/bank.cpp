// A bank with a race: deposits take the account's lock, the audit forgot to.
//
//   pf-c++ -O1 -g bank.cpp -o bank && photofinish run -- ./bank
#include <cstdio>
#include <mutex>
#include <thread>

struct Account {
  std::mutex lock;
  long balance = 100;
};

static Account account;

static void deposit(long amount) {
  const std::lock_guard guard(account.lock);
  account.balance += amount;
}

static long audit() { return account.balance; }

int main() {
  std::thread teller([] {
    for (int i = 0; i < 10; ++i) deposit(5);
  });
  std::thread auditor([] { std::printf("the audit found %ld\n", audit()); });
  teller.join();
  auditor.join();
  std::printf("the balance is %ld\n", account.balance);
}
