// Two plain writes, the second strictly later in time but ordered by nothing: the simplest race, reported in full.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;
// CHECK: race: write-write on global shared of 4 bytes ({{[a-z]+}}, real; id {{[0-9a-f]+}})
// CHECK-NEXT: first {{ *}}write of 4 bytes by thread 1{{.*}}, no lock held
static void first() {
  shared = 1;  // CHECK-NEXT: #0 first{{.*}}[[FILE]]:[[#@LINE]]
}
// CHECK: second {{ *}}write of 4 bytes by thread 2{{.*}}, no lock held
static void second() {
  shared = 2;  // CHECK-NEXT: #0 second{{.*}}[[FILE]]:[[#@LINE]]
}
// CHECK-NOT: race:

int main() { in_turn(first, second); }
