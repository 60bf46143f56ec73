// Without debug information nobody knows whether an ordinary instruction is an atomic of the source: no race is claimed, and suspects are
// named by module and offset.
// RUN: %plainxx -s %s -o %t
// RUN: %exits 0 %sample -- %t 8 2>&1 | %FileCheck %s
// CHECK-NOT: {{^}}race:
// CHECK: suspect: {{.*}} (clockrace, suspect
// CHECK: {{stripped_suspect.*\+0x}}
// CHECK: 0 races
#include "counter_race.cpp"
