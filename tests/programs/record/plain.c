// A program without instrumentation has no trace, and none is left behind.
// RUN: %plaincc %s -o %t && rm -f %t.pft && %exits 2 %photofinish record -o %t.pft -- %t | %FileCheck %s
// RUN: not ls %t.pft %t.pft.partial
// CHECK: is not instrumented, nothing was recorded
int main(void) { return 0; }
