// After the end of the marks accesses count again, and marks nest.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);

int ignored, shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn(
      [] {
        ignored = 1;
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        ignored = 2;
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
// CHECK-NOT: race:
