// Volatile is not atomic: a volatile flag races like any other variable.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

volatile int flag;  // CHECK: race: write-read on global flag of 4 bytes

int main() {
  in_turn([] { flag = 1; },     // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { (void)flag; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
