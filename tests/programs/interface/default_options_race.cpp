// __tsan_default_options, defined by the program, sets options; those of the environment win.
// RUN: %cxx -O1 %s -o %t && %exits 5 %run %t | %FileCheck %s
// RUN: env PHOTOFINISH_OPTIONS=exitcode=9 %exits 9 %run %t | %FileCheck %s
#include "order.h"

extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() { return "exitcode=5"; }

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn([] { shared = 1; }, [] { shared = 2; });
}
