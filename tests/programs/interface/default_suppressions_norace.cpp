// __tsan_default_suppressions, defined by the program, suppresses by function name.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() { return "race:noisy\n"; }

int shared;

static void noisy() { shared = 1; }

int main() {
  in_turn(noisy, [] { shared = 2; });
}
