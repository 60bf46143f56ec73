// memset of the two parts of a buffer, cut at an odd byte.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <string.h>

char shared[101];
volatile size_t cut = 51;

int main() {
  in_turn([] { memset(shared, 1, cut); }, [] { memset(shared + cut, 2, sizeof shared - cut); });
  return shared[50] + shared[51] - 3;
}
