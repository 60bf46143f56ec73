// Every thread has its own thread-local variable, and the memory of a dead thread's is reused by the next.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

thread_local int mine[16];

static void touch() {
  for (int& word : mine) word++;
  use(mine);
}

int main() {
  in_turn(touch, touch);
  in_turn(touch, touch);
  touch();
}
