// A hundred thousand frames deep and back.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared[2];

__attribute__((noinline)) static int descend(int depth, int* counter) {
  ++*counter;
  if (depth == 0) return 0;
  int below = descend(depth - 1, counter);
  use(below);
  return below + 1;
}

int main() {
  in_turn([] { use(descend(100000, &shared[0])); }, [] { use(descend(100000, &shared[1])); });
  return shared[0] - shared[1];
}
