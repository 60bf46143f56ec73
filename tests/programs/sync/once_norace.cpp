// What the initializer of pthread_once wrote may be read by all who called it, however late.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;
pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize() { shared = 7; }
static void work() {
  pthread_once(&once, initialize);
  use(shared);
}

int main() {
  in_turn(work, work);
  return shared - 7;
}
