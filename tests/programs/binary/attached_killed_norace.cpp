// photofinish is killed while attached: the program goes on, whatever breakpoints are left in it, can be attached to again, and ends as it would have.
// While one is attached, another is refused.
// RUN: %plainxx -g %s -o %t
// RUN: %attached %t -- '%photofinish attach --breakpoints 1000 $pid 2> /dev/null & sleep 2; photofinish attach $pid; kill -9 $!; wait $!; sleep 1' 'photofinish attach -q --for 2s $pid' | %FileCheck %s
// CHECK: is being sampled already
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NOT: {{^}}race:
// CHECK: photofinish: exit code 0
// CHECK: ready
// CHECK-NEXT: sums are equal
// CHECK-NEXT: program: exit code 0
#define UNTIL_SIGNAL
#include "synchronized_norace.cpp"
