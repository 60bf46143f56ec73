// Two threads copy the same struct into targets of their own: the source is only read.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

struct Big {
  long words[40];
};
Big source, targets[2];

int main() {
  in_turn([] { targets[0] = source; }, [] { targets[1] = source; });
  use(targets);
}
