// A suppression file of the environment silences by function, global or source file; a race beside it is still found.
// RUN: %cxx -O1 %s -o %t && echo "race:noisy" > %t.function && echo "race:*suppressions_no*" > %t.file
// RUN: echo "race:another" > %t.other
// RUN: env PHOTOFINISH_OPTIONS=suppressions=%t.function %norace %t
// RUN: env PHOTOFINISH_OPTIONS=suppressions=%t.file %norace %t
// RUN: env PHOTOFINISH_OPTIONS=suppressions=%t.other %race %t | %FileCheck %s
// CHECK: race: write-write on global shared
#include "order.h"

int shared;

static void noisy() { shared = 1; }

int main() {
  in_turn(noisy, [] { shared = 2; });
}
