// A page that one thread unmaps and another maps again at the same address is new memory: what was known of it is gone.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <sys/mman.h>

#define ADDRESS ((void*)0x7e0000000000)

static void once(void) {
  int* page = mmap(ADDRESS, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == MAP_FAILED) page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 2048; i++) page[i] = i;
  munmap(page, 8192);
}

int main(void) {
  in_turn(once, once);
  return 0;
}
