// A page that one thread unmaps and another maps again at the same address is new memory: what was known of it is gone.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <sys/mman.h>

static void* address;

static void once(void) {
  int* page = mmap(address, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  for (int i = 0; i < 2048; i++) page[i] = i;
  munmap(page, 8192);
}

int main(void) {
  address = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  in_turn(once, once);
}
