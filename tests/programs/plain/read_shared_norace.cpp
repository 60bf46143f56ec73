// Two unordered reads, then a write after both were joined: the write is ordered after every reader.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;

int main() {
  in_turn([] { use(shared); }, [] { use(shared); });
  shared = 1;
  in_turn([] { use(shared); }, [] { use(shared); });
}
