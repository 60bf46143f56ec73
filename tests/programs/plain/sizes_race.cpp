// Every access size that has an entry point of its own races, and the report names its bytes.
// RUN: %cxx -O1 -DTYPE="unsigned char" %s -o %t1 && %race %t1 | %FileCheck -DSIZE="1 byte" %s
// RUN: %cxx -O1 -DTYPE=short %s -o %t2 && %race %t2 | %FileCheck -DSIZE="2 bytes" %s
// RUN: %cxx -O1 -DTYPE=int %s -o %t4 && %race %t4 | %FileCheck -DSIZE="4 bytes" %s
// RUN: %cxx -O1 -DTYPE=long %s -o %t8 && %race %t8 | %FileCheck -DSIZE="8 bytes" %s
// RUN: %cxx -O1 -DTYPE=__int128 %s -o %t16 && %race %t16 | %FileCheck -DSIZE="16 bytes" %s
#include "order.h"

TYPE shared;  // CHECK: race: write-read on global shared of [[SIZE]] (

int main() {
  in_turn([] { shared = 1; },                            // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { use(static_cast<long>(shared >> 1)); });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
