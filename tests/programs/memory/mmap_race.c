// Memory from mmap races like any other and is named as mapped.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <sys/mman.h>

int* page;
// CHECK: race: write-write on mapped memory
static void first(void) {
  page[100] = 1;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
}
static void second(void) {
  page[100] = 2;  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
}

int main(void) {
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  in_turn(first, second);
}
