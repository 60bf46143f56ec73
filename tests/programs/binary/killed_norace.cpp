// photofinish is killed while it samples: the program goes on, whatever breakpoints are left in it, and ends as it would have.
// RUN: %plainxx -g %s -o %t
// RUN: rm -f %t.out && bash -c '%photofinish sample --breakpoints 1000 -- %t 4 > %t.out 2> %t.err & sleep 2; kill -9 $!; while pgrep -f "^%t 4" > /dev/null; do sleep 0.1; done'
// RUN: %FileCheck %s < %t.out
// CHECK: sums are equal
#include "synchronized_norace.cpp"
