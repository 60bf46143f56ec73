// A process that waits for something, or computes, does not notice that its only thread is made to do something else.
// RUN: %plainxx -g %s -o %t
// RUN: %attached %t read -- 'photofinish attach -q --for 500ms $pid' 'photofinish attach -q --for 100ms $pid' | %FileCheck %s
// RUN: %attached %t sleep -- 'photofinish attach -q --for 500ms $pid' | %FileCheck %s
// RUN: %attached %t poll -- 'photofinish attach -q --for 500ms $pid' | %FileCheck %s
// RUN: %attached %t epoll -- 'photofinish attach -q --for 500ms $pid' | %FileCheck %s
// RUN: %attached %t compute -- 'photofinish attach -q --for 500ms $pid' 'photofinish attach -q --for 100ms $pid' | %FileCheck %s
// RUN: %attached %t compute -- '(sleep 1; kill -USR1 $pid) & photofinish attach -q $pid' 2> /dev/null | %FileCheck %s
// CHECK: photofinish: exit code 0
// CHECK: ready
// CHECK-NEXT: woken by the signal only
// CHECK-NEXT: program: exit code 0
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

static volatile sig_atomic_t done;
static int ends[2];

// The same each time, in registers of all kinds.
[[gnu::noinline]] static double series() {
  double x = 0.5, y = 0.25;
  unsigned long n = 1;
  for (int i = 0; i < 100000; ++i) {
    x = x * 1.0000001 + y;
    y = 1 / (x + static_cast<double>(n % 7));
    n = n * 6364136223846793005UL + 1;
  }
  return x + y + static_cast<double>(n % 1000);
}
static int compute() {
  const double expected = series();
  while (done == 0) {
    if (series() != expected) return std::puts("another result");
  }
  return 0;
}

static int wait_by(const char* kind) {
  if (std::strcmp(kind, "compute") == 0) return compute();
  if (std::strcmp(kind, "read") == 0) {
    char byte = 0;
    return static_cast<int>(read(ends[0], &byte, 1));
  }
  if (std::strcmp(kind, "sleep") == 0) {
    const timespec long_time{1000, 0};
    return nanosleep(&long_time, nullptr);
  }
  if (std::strcmp(kind, "poll") == 0) {
    pollfd ready{ends[0], POLLIN, 0};
    return poll(&ready, 1, 1000000);
  }
  epoll_event event{};
  const int waiting = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(waiting, EPOLL_CTL_ADD, ends[0], &event);
  return epoll_wait(waiting, &event, 1, -1);
}

int main(int, char** argv) {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    done = 1;
    if (write(ends[1], "x", 1) != 1) done = 2;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  if (pipe(ends) != 0) return 1;
  std::puts("ready");
  std::fflush(stdout);
  errno = 0;
  wait_by(argv[1]);
  std::printf("woken by %s\n", done == 1 ? "the signal only" : std::strerror(errno));
}
