// A program with much of what sampling could disturb behaves as it does alone: signals with all of them blocked, a trap of its own, forks, an
// exec, five hundred threads, code that it writes itself, a library that comes and goes.
// RUN: %plainxx -g -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %plainxx -g %s -o %t
// RUN: %t %t.so > %t.alone
// RUN: %exits 0 %sample -q --breakpoints 1000 --lib '*.so' -- %t %t.so > %t.sampled
// RUN: diff %t.alone %t.sampled
// RUN: %FileCheck %s < %t.sampled
// CHECK: handler ran, trap seen
// CHECK: children: 7 11
// CHECK: threads: 500
// CHECK: own code: 42
// CHECK: library: 100
// CHECK: executed
#ifdef LIBRARY
static int calls;
extern "C" int count() { return ++calls; }
#else
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static volatile sig_atomic_t handled, trapped;

[[gnu::noinline]] static long work_on(volatile long* cells, long rounds) {
  for (long i = 0; i < rounds; ++i) cells[i % 256] = cells[i * 7 % 256] + 1;
  return cells[0];
}
static long touch(long rounds) {
  volatile long cells[256] = {};
  return work_on(cells, rounds);
}

static void on_signal(int) {
  touch(1000);
  handled = 1;
}
static void on_trap(int) { trapped = 1; }

static void signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  signal(SIGTRAP, on_trap);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  touch(200000);
  for (int i = 0; i < 20; ++i) raise(SIGUSR1);
  sigset_t others = all;
  sigdelset(&others, SIGUSR1);
  for (int i = 0; i < 50; ++i)
    ppoll(nullptr, 0, nullptr, (raise(SIGUSR1), &others));  // its handler, with all others blocked
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  raise(SIGTRAP);
  std::printf("handler %s, trap %s\n", handled ? "ran" : "missing", trapped ? "seen" : "missing");
}

static int child(int code) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    touch(100000);
    _exit(code);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int own_code() {
  const unsigned char code[] = {0xB8, 42, 0, 0, 0, 0xC3};  // mov eax, 42; ret
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, code, sizeof code);
  int result = 0;
  for (int i = 0; i < 100000; ++i) result = reinterpret_cast<int (*)()>(page)();
  return result;
}

int main(int argc, char** argv) {
  if (argc < 2) return touch(1000000), std::puts("executed"), 0;
  signals();
  const int first = child(7), second = child(11);
  std::printf("children: %d %d\n", first, second);
  std::atomic<int> ended = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 100; ++i) threads.emplace_back([&] { touch(3000), ++ended; });
    for (std::thread& t : threads) t.join();
  }
  std::printf("threads: %d\n", ended.load());
  std::printf("own code: %d\n", own_code());
  int calls = 0;
  for (int i = 0; i < 100; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return 1;
    calls += reinterpret_cast<int (*)()>(dlsym(library, "count"))();
    dlclose(library);
    touch(20000);
  }
  std::printf("library: %d\n", calls);
  std::fflush(stdout);
  execl("/proc/self/exe", "again", static_cast<char*>(nullptr));
}
#endif
