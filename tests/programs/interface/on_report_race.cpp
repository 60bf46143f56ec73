// __tsan_on_report, defined by the program, is called once per report.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// CHECK-DAG: race: write-write on global shared of 4 bytes
// CHECK-DAG: hook called 1 time
#include "order.h"
#include <stdio.h>

int shared, calls;

extern "C" __attribute__((visibility("default"))) INVISIBLE void __tsan_on_report(void*) { calls++; }

int main() {
  in_turn([] { shared = 1; }, [] { shared = 2; });
  printf("hook called %d time\n", calls);
}
