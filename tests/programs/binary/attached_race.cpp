// A race in a process that runs already; afterwards the process is as it was: its calls, its handlers, its descriptors. And once more, and with two
// hundred threads, more than descriptors allow for four breakpoints each.
// RUN: %plainxx -g %s -o %t
// RUN: %attached %t 1 -- 'photofinish attach --until-race --for 60s --overhead 30%% --delay 5ms $pid' 'photofinish attach $pid --until-race --for 60s --overhead 30%% --delay 5ms' | %FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: %plainxx -g -no-pie -Wl,-z,lazy %s -o %t
// RUN: %attached %t 1 -- 'photofinish attach --until-race --for 60s --overhead 30%% --delay 5ms $pid' | %FileCheck %s
// RUN: %plainxx -g -Wl,-z,now %s -o %t
// RUN: prlimit --nofile=256:256 %attached %t 200 -- 'photofinish attach --until-race --for 60s --overhead 30%% --delay 5ms $pid' | %FileCheck %s --check-prefixes=FEW,CHECK
// FEW: threads of process {{.*}} have no hardware breakpoints
// CHECK: race: {{.*}} on global balance of 8 bytes (clockrace, confirmed
// CHECK: deposit {{.*}}[[FILE]]:
// CHECK: deposit {{.*}}[[FILE]]:
// CHECK: photofinish: exit code 66
// TWICE: race: {{.*}} on global balance of 8 bytes (clockrace, confirmed
// TWICE: photofinish: exit code 66
// CHECK: ready
// CHECK-NEXT: calls changed meanwhile: yes, are as before: yes
// CHECK-NEXT: handlers as before: yes yes
// CHECK-NEXT: descriptors as before: yes
// CHECK-NEXT: program: exit code 7
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

long balance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t done;

[[gnu::noinline]] static void deposit(long amount) { balance = balance + amount; }

// Where calls of the function lead.
static void* entry() {
  void* p = nullptr;
  __asm__ volatile("movq pthread_mutex_unlock@GOTPCREL(%%rip), %0" : "=r"(p));
  return p;
}

// As the kernel has it, whoever answers for libc.
struct Action {
  unsigned long words[4] = {};
};
static Action action_of(int number) {
  Action a;
  syscall(SYS_rt_sigaction, number, nullptr, &a, 8);
  return a;
}
static bool same(const Action& a, const Action& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

static int descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

static void work() {
  while (done == 0) {
    for (int i = 0; i < 20; ++i) deposit(i);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

int main(int, char** argv) {
  struct sigaction action = {};
  action.sa_handler = [](int) { done = 1; };
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  pthread_mutex_lock(&mutex);  // bound, if it is by need
  pthread_mutex_unlock(&mutex);
  void* const bound = entry();
  const Action usr1 = action_of(SIGUSR1), trap = action_of(SIGTRAP);
  const int open_ones = descriptors();
  bool changed = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[1]); ++i) threads.emplace_back(work);
  std::puts("ready");
  std::fflush(stdout);
  while (done == 0) {
    deposit(1);
    changed |= entry() != bound;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  for (std::thread& t : threads) t.join();
  const auto word = [](bool b) { return b ? "yes" : "no"; };
  std::printf("calls changed meanwhile: %s, are as before: %s\n", word(changed), word(entry() == bound));
  std::printf("handlers as before: %s %s\n", word(same(action_of(SIGUSR1), usr1)),
              word(same(action_of(SIGTRAP), trap)));
  std::printf("descriptors as before: %s\n", word(descriptors() == open_ones));
  return 7;
}
