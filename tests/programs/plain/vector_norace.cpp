// 16-byte vector stores into neighbouring halves of one cache line.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

typedef int Vector __attribute__((vector_size(16)));
Vector halves[2];

int main() {
  in_turn([] { halves[0] = Vector{1, 2, 3, 4}; }, [] { halves[1] = Vector{5, 6, 7, 8}; });
  return halves[1][3] - 8;
}
