// Assigning a large struct copies memory without a call in the source: its bytes race with a write to a field.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

struct Big {
  long words[40];
};
Big source, target;  // CHECK: race: write-write on global target of 320 bytes

int main() {
  in_turn([] { target = source; },        // CHECK: [[FILE]]:[[#@LINE]]
          [] { target.words[39] = 1; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
