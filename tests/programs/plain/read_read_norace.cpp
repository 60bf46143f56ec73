// Two reads that nothing orders do not conflict.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared = 7;

int main() {
  in_turn([] { use(shared); }, [] { use(shared); });
  return shared - 7;
}
