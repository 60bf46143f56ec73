// A race in what a program became by exec is reported as well.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main(int argc, char** argv) {
  if (argc == 1) {
    execl(argv[0], argv[0], "again", nullptr);
    return 1;
  }
  in_turn([] { shared = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { shared = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
