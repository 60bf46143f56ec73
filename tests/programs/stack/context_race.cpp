// An access on a stack of swapcontext's races with another thread like any other.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <ucontext.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
ucontext_t outer, inner;
char stack[65536];

static void coroutine() {
  shared = 1;  // CHECK: #0 coroutine{{.*}}[[FILE]]:[[#@LINE]]
  swapcontext(&inner, &outer);
}

int main() {
  in_turn(
      [] {
        getcontext(&inner);
        inner.uc_stack.ss_sp = stack;
        inner.uc_stack.ss_size = sizeof stack;
        inner.uc_link = &outer;
        makecontext(&inner, coroutine, 0);
        swapcontext(&outer, &inner);
      },
      [] { shared = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
