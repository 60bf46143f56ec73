// swapcontext: two stacks taken turns by one thread are one thread, without any annotation.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <ucontext.h>

int shared;
ucontext_t outer, inner;
char stack[65536];

static void coroutine() {
  for (;;) {
    shared++;
    swapcontext(&inner, &outer);
  }
}

int main() {
  getcontext(&inner);
  inner.uc_stack.ss_sp = stack;
  inner.uc_stack.ss_size = sizeof stack;
  inner.uc_link = &outer;
  makecontext(&inner, coroutine, 0);
  for (int i = 0; i < 20; i++) {
    shared++;
    swapcontext(&outer, &inner);
  }
  return shared - 40;
}
