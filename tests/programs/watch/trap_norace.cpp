// A program's own SIGTRAP, its handler, and threads that block every signal: as without us.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "clockrace,rate=100%%,overhead=50%% collision,rate=100%%,delay=100us" %norace %t | %FileCheck %s
// RUN: %exits 133 %photofinish run -e clockrace,rate=100%% -- %t dies
#include <signal.h>
#include <stdio.h>

#include <mutex>
#include <thread>

std::mutex lock;
int counter;
volatile sig_atomic_t traps;

void count() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (int i = 0; i < 3000; ++i) {
    const std::lock_guard guard(lock);
    ++counter;
  }
}

int main(int count_of, char**) {
  std::thread one(count), two(count);
  if (count_of == 1) signal(SIGTRAP, [](int) { traps = traps + 1; });
  for (int i = 0; i < 3; ++i) __asm__ volatile("int3");
  one.join();
  two.join();
  printf("%d traps, %d\n", static_cast<int>(traps), counter);  // CHECK: 3 traps, 6000
}
