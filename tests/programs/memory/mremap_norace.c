// mremap away and a fresh mapping of another thread at the old address: the old accesses do not count there.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <sys/mman.h>

int *old_pages, *new_pages;

static void first(void) {
  old_pages[0] = 1;
  new_pages = mremap(old_pages, 4096, 1 << 20, MREMAP_MAYMOVE);
}
static void second(void) {
  int* pages;
  __asm__("mov %1, %0" : "=r"(pages) : "m"(old_pages));  // invisible: only the pages are of interest
  int* fresh = mmap(pages, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (fresh == MAP_FAILED) return;  // the mapping grew in place
  fresh[0] = 2;
  munmap(fresh, 4096);
}

int main(void) {
  old_pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  in_turn(first, second);
  return new_pages[0] - 1;
}
