// A write that no breakpoint can see, since the kernel does it: the delayed thread finds another value. Nobody knows who it was.
// RUN: %cxx -O1 %s -o %t && %with "collision,rate=100%%,overhead=100%%,delay=100ms" %race %t | %FileCheck %s
#include <unistd.h>

#include "order.h"

int pipes[2];
long value;
long volatile sink;

// Neither is the call seen by an interceptor.
INVISIBLE long raw_read(int fd, void* to, size_t n) {
  long result = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(0), "D"(fd), "S"(to), "d"(n) : "rcx", "r11", "memory");
  return result;
}

int main() {
  if (pipe(pipes) != 0) return 1;
  for (long i = 1; i <= 20; ++i) {
    if (write(pipes[1], &i, sizeof i) != sizeof i) return 1;
  }
  together(
      [] {
        for (int i = 0; i < 10; ++i) {
          sink = value;  // CHECK: race: write-read on global value
          use(&value);
        }
      },
      [] {
        for (int i = 0; i < 20; ++i) {
          raw_read(pipes[0], &value, sizeof value);
          usleep(20000);
        }
      });
}
// CHECK: by an unknown thread
// CHECK: second read {{.*}} by thread 1
// CHECK: {{[1-9][0-9]*}} write{{s?}} told by the value alone
