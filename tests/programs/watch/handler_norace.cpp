// A handler of a signal writes what its own thread is held back at: another value, but no race. With a handler that we know of, and with one that
// only the kernel does.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "collision,rate=100%%,overhead=100%%,delay=10ms" %norace %t | %FileCheck %s
// RUN: %with "collision,rate=100%%,overhead=100%%,delay=10ms" %norace %t unseen | %FileCheck %s
// CHECK: {{[1-9][0-9]*}} delays{{.*}} 0 writes told by the value alone
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "order.h"

long value;
volatile long interrupted;

// Neither the compiler nor an interceptor sees these.
INVISIBLE long raw(long number, long a, long b, long c, long d = 0) {
  long result = number;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}
INVISIBLE long at(const void* p) { return reinterpret_cast<long>(p); }

INVISIBLE void write_value(int) {
  ++value;
  interrupted = interrupted + 1;
}

extern "C" void back_from_handler();
__asm__(".text\nback_from_handler: movl $15, %eax\n syscall");

INVISIBLE void handle_unseen() {
  const struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action = {&write_value, 0x04000000, &back_from_handler, 0};
  raw(SYS_rt_sigaction, SIGALRM, at(&action), 0, 8);
}

void read_value() {
  for (int i = 0; i < 20; ++i) use(value);
}

int main(int count, char**) {
  if (count == 1) {
    signal(SIGALRM, &write_value);
  } else {
    handle_unseen();
  }
  const itimerval often = {{0, 3000}, {0, 3000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (interrupted < 50) read_value();
}
