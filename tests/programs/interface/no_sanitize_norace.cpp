// Plain accesses of a function with no_sanitize("thread") are not seen.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int shared;

__attribute__((no_sanitize("thread"), noinline)) static void unseen() { shared = 2; }

int main() {
  in_turn([] { shared = 1; }, unseen);
}
