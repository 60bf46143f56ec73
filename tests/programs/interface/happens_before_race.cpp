// AnnotateHappensAfter that comes before its AnnotateHappensBefore in time orders nothing.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

extern "C" void AnnotateHappensBefore(const char* file, int line, unsigned long address);
extern "C" void AnnotateHappensAfter(const char* file, int line, unsigned long address);

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  together(
      [] {
        order_wait(1);
        shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        AnnotateHappensBefore(__FILE__, __LINE__, 1234);
        order_done(2);
      },
      [] {
        AnnotateHappensAfter(__FILE__, __LINE__, 1234);
        order_done(1);
        order_wait(2);
        shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
