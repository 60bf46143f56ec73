// Static locals of two functions that share a name are two variables.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

static void count() {
  static int calls;
  calls++;
  use(&calls);
}
static void count_too() {
  static int calls;
  calls += 2;
  use(&calls);
}

int main() { in_turn(count, count_too); }
