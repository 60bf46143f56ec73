// A program that replaces itself keeps its arguments, its environment and the exit code of what it became.
// RUN: %cc -O1 %s -o %t && %exits 7 %run %t | %FileCheck %s
// CHECK-NOT: race:
// CHECK: again 7
// CHECK-NOT: race:
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc == 1) {
    setenv("CODE", "7", 1);
    execl(argv[0], argv[0], "again", NULL);
    return 1;
  }
  printf("%s %s\n", argv[1], getenv("CODE"));
  return atoi(getenv("CODE"));
}
