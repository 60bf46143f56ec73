// CARISMA with all memory sampled is no filter at all; at lower rates memory of each kind is drawn by itself.
// RUN: %cxx -O1 %s -o %t && %with "carisma,rate=100%%:fasttrack carisma,rate=100%%,strategy=cls,depth=3:multilock carisma,rate=100%%:pacer,rate=100%%" %race %t | %FileCheck %s
// CHECK: with carisma,rate=100%:fasttrack:
// CHECK-DAG: race: write-write on global variable
// CHECK-DAG: race: write-write on global array
// CHECK-DAG: race: write-write on heap
// CHECK-DAG: race: write-write on stack
// CHECK: sampled 100% of the work, asked for 100%; [[N:[0-9,]+]] of [[N]] accesses
// CHECK: with carisma,rate=100%,strategy=cls,depth=3:multilock:
// CHECK: 4 races
// CHECK: with carisma,rate=100%:pacer,rate=100%:
// CHECK: 4 races
// RUN: %with carisma,rate=0:fasttrack %norace %t
// RUN: %exits 66 %photofinish run -r json -e carisma,rate=100%%:fasttrack -- %t | %FileCheck %s --check-prefix=JSON
// JSON: "estimate":{"by":"rate","probability":1.0,"runs":1}
// JSON: "sampling":{"asked":1.0,"effective":1.0,"accesses":[[N:[0-9]+]],"sampled":[[N]],"live_bytes":{{[1-9][0-9]*}}}
#include <cstdlib>

#include "order.h"

int variable, array[4096];
int* block;
int* on_stack;

[[gnu::noinline]] void touch() {
  variable = 1;
  array[1000] = 1;
  block[5] = 1;
  *on_stack = 1;
}

int main() {
  int local = 0;
  on_stack = &local;
  block = static_cast<int*>(malloc(24));
  in_turn(touch, touch);
  free(block);
}
