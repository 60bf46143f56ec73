// A race between two threads that a forked child started: found in the child, reported with the parent's.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <sys/wait.h>
#include <unistd.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  pid_t child = fork();
  if (child == 0) {
    in_turn([] { shared = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
            [] { shared = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
    return 0;
  }
  waitpid(child, nullptr, 0);
}
