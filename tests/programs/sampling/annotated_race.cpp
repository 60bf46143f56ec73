// The program itself says when to sample: of two races the one whose first access is in the period is found.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0 %race %t | %FileCheck %s --implicit-check-not=race:
#include "order.h"

extern "C" void AnnotateSampling(const char* file, int line, int on);

int sampled, missed;  // CHECK: race: write-write on global sampled

int main() {
  in_turn(
      [] {
        missed = 1;
        AnnotateSampling(__FILE__, __LINE__, 1);
        sampled = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        AnnotateSampling(__FILE__, __LINE__, 0);
      },
      [] {
        missed = 2;
        sampled = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK: 1 race in
// CHECK: sampled {{.*}} asked for 0%
