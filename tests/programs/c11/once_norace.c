// C11 call_once orders its function before all who called it.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <threads.h>

int shared;
once_flag once = ONCE_FLAG_INIT;

static void initialize(void) { shared = 7; }
static void work(void) {
  call_once(&once, initialize);
  use(shared);
}

int main(void) {
  in_turn(work, work);
  return shared - 7;
}
