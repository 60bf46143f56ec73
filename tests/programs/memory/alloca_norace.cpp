// Variable-length frames of two threads, one with alloca: stacks are private until an address gets out.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <alloca.h>

volatile int length = 100;

static void fill() {
  int n = length;
  int* frame = static_cast<int*>(alloca(static_cast<size_t>(n) * sizeof(int)));
  for (int i = 0; i < n; i++) frame[i] = i;
  use(frame);
}

int main() { together(fill, fill); }
