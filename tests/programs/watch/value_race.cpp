// A write that no breakpoint can see, since the kernel does it: the delayed thread finds another value. Nobody knows who it was.
// RUN: %cxx -O1 %s -o %t && %with "collision,rate=100%%,overhead=100%%,delay=10ms" %race %t | %FileCheck %s
#include <sys/syscall.h>

#include "order.h"

int pipes[2];
long value;

// Neither the compiler nor an interceptor sees these calls.
INVISIBLE long raw(long number, long a, long b, long c) {
  long result = number;
  __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
INVISIBLE long at(const void* p) { return reinterpret_cast<long>(p); }

INVISIBLE void nap() {
  const long pause[2] = {0, 1000000};
  raw(SYS_nanosleep, at(pause), 0, 0);
}

void reader() {
  for (int i = 0; i < 200; ++i) {
    nap();                    // there is a budget of delays only where time has passed
    const long seen = value;  // CHECK: race: write-read on global value
    use(seen);
  }
  order_done(1);
}

INVISIBLE bool is_over() {
  int step;
  __asm__ volatile("movl %1, %0" : "=r"(step) : "m"(order_step) : "memory");
  return step != 0;
}

INVISIBLE void writer() {
  for (long i = 1; !is_over(); ++i) {
    raw(SYS_write, pipes[1], at(&i), sizeof i);
    raw(SYS_read, pipes[0], at(&value), sizeof value);
    nap();
  }
}

INVISIBLE int main() {
  raw(SYS_pipe, at(pipes), 0, 0);
  together(&reader, &writer);
}
// CHECK: by an unknown thread
// CHECK: second read {{.*}} by thread 1
// CHECK: #0 reader
// CHECK: {{[1-9][0-9]*}} write{{s?}} told by the value alone
