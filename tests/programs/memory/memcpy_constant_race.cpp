// memcpy of a constant size may become plain moves in the compiler: it must race all the same.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <string.h>

long source[2], target[2];  // CHECK: race: write-read on global target of 16 bytes

int main() {
  in_turn([] { memcpy(target, source, sizeof target); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { use(target[1]); });                        // CHECK: [[FILE]]:[[#@LINE]]
}
