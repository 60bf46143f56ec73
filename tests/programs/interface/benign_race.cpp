// What lies next to a range declared benign is not.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

extern "C" void AnnotateBenignRaceSized(const char* file, int line, const volatile void* address, long size,
                                        const char* why);

int statistics[4];  // CHECK: race: write-write on global statistics of 16 bytes at offset 12

int main() {
  AnnotateBenignRaceSized(__FILE__, __LINE__, statistics, 8, "approximate on purpose");
  in_turn([] { statistics[0] = statistics[3] = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { statistics[0] = statistics[3] = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
// CHECK-NOT: race:
