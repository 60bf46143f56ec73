// log_path= sends the report to files of that prefix; standard error stays the program's.
// RUN: %cxx -O1 %s -o %t && rm -f %t.log.*
// RUN: env PHOTOFINISH_OPTIONS=log_path=%t.log %race %t | %FileCheck --check-prefix=PROGRAM %s
// RUN: cat %t.log.* | %FileCheck %s
// PROGRAM-NOT: race:
// PROGRAM: the program's own line
// PROGRAM-NOT: race:
#include "order.h"
#include <stdio.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  in_turn([] { shared = 1; }, [] { shared = 2; });
  fputs("the program's own line\n", stderr);
}
