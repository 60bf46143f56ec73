// sigsetjmp and siglongjmp out of a signal handler, again and again, while another thread does the same.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <setjmp.h>
#include <signal.h>

static __thread sigjmp_buf back;
static __thread int jumps;

static void handle(int number) { siglongjmp(back, number); }
static void work(void) {
  for (volatile int i = 0; i < 50; i = i + 1) {
    if (sigsetjmp(back, 1) == 0)
      raise(SIGUSR1);
    else
      jumps++;
  }
  use(jumps);
}

int main(void) {
  signal(SIGUSR1, handle);
  together(work, work);
  return 0;
}
