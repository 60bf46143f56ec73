// Calls that end by a jump, by an exception or by a change of context give way to the call they return to: one that is sampled
// is seen again at once, one that is not stays unseen.
// RUN: %cxx -O1 %s -o %t && %with "literace,burst=5,seed=0:fasttrack" %race %t | %FileCheck %s --implicit-check-not="on global unseen"
// CHECK: race: write-write on global after_jump
// CHECK: race: write-write on global after_exception
// CHECK: race: write-write on global after_context
// CHECK: race: write-write on global after_signal
// RUN: %with fasttrack %race %t | %FileCheck %s --check-prefix=PLAIN
// PLAIN: race: write-write on global unseen
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "order.h"

int after_jump, after_exception, after_context, after_signal, unseen;
thread_local jmp_buf back;
thread_local int noise, own_signal;  // one signal would order what the threads do

[[gnu::noinline]] void jump(bool really) {
  noise = noise + 1;
  if (really) longjmp(back, 1);
}
[[gnu::noinline]] void fail(bool really) {
  noise = noise + 1;
  if (really) throw 1;
}
void handler(int) { noise = noise + 1; }

// Not sampled after its first five calls: neither before the jump and the signal nor after them.
[[gnu::noinline]] void hot(bool late) {
  if (setjmp(back) == 0) jump(true);
  noise = noise + 1;
  raise(own_signal);
  if (late) unseen = 1;
}

thread_local ucontext_t here, there;
[[gnu::noinline]] void other() {
  for (int i = 0; i < 40; ++i) jump(false);
}

void work() {
  for (int i = 0; i < 40; ++i) jump(false);
  if (setjmp(back) == 0) jump(true);
  after_jump = 1;
  for (int i = 0; i < 40; ++i) fail(false);
  try {
    fail(true);
  } catch (int) {
    after_exception = 1;
  }
  static thread_local char stack[1 << 16];
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = &here;
  makecontext(&there, other, 0);
  swapcontext(&here, &there);
  after_context = 1;
  for (int i = 0; i < 40; ++i) raise(own_signal);
  after_signal = 1;
  for (int i = 0; i < 20; ++i) hot(i > 10);
}

int main() {
  signal(SIGUSR1, handler);
  signal(SIGUSR2, handler);
  in_turn(
      [] {
        own_signal = SIGUSR1;
        work();
      },
      [] {
        own_signal = SIGUSR2;
        work();
      });
}
