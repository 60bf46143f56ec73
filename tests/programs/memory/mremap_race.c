// mremap moves a mapping: accesses to its new address race, at the new address.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <sys/mman.h>

int* pages;
// CHECK: race: write-read on mapped memory
static void first(void) {
  pages[5000] = 1;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
}
static void second(void) {
  use(pages[5000]);  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
}

int main(void) {
  pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pages[0] = 1;
  pages = mremap(pages, 4096, 1 << 20, MREMAP_MAYMOVE);
  in_turn(first, second);
  return pages[0] - 1;
}
