// A forked child has breakpoints of its own, and so has a program after an exec; a program that closes all descriptors loses them, and accesses are compared from then on.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "clockrace,rate=100%%,overhead=50%%" %race %t fork | %FileCheck %s --check-prefixes=CHECK,FORK
// RUN: %with "clockrace,rate=100%%,overhead=50%% collision,rate=100%%,delay=1ms,overhead=50%%" %race %t exec | %FileCheck %s
// RUN: %with "clockrace,rate=100%%,overhead=50%%" %race %t close | %FileCheck %s
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "order.h"

int counter;

void count() {
  order_arrive();
  order_wait(2);  // on a busy machine one may be over before the other begins
  for (int i = 0; i < 15000000; ++i) {
    ++counter;
    use(&counter);
  }
}

int main(int, char** arguments) {
  if (strcmp(arguments[1], "fork") == 0) {
    const pid_t child = fork();
    if (child != 0) {
      waitpid(child, nullptr, 0);
      return 0;
    }
  } else if (strcmp(arguments[1], "exec") == 0) {
    execl("/proc/self/exe", "again", "now", nullptr);
  } else if (strcmp(arguments[1], "close") == 0) {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
  }
  std::thread one(count), two(count);
  one.join();
  two.join();
}
// CHECK: on global counter
// FORK: in process
