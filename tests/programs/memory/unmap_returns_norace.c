// Mappings that come and go, each at addresses of its own: what was kept about them goes with them.
// RUN: %cc -O1 %s -o %t && %norace %t
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { mapping = 16 << 20, count = 16, mapping_pages = mapping / 4096 };

static long resident_pages(void) {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2) return 0;
  fclose(file);
  return resident;
}

int main(void) {
  char* space = mmap(NULL, (size_t)mapping * count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return 1;
  const long before = resident_pages();
  for (long i = 0; i < count; ++i) {
    char* part = mmap(space + i * mapping, mapping, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (part == MAP_FAILED) return 2;
    for (long at = 0; at < mapping; at += 256) part[at] = 1;
    munmap(part, mapping);
  }
  const long grown = resident_pages() - before;
  // Less than two of the mappings would take with their history.
  if (grown > 8 * mapping_pages) fprintf(stderr, "grown by %ld pages\n", grown);
  return grown > 8 * mapping_pages ? 3 : 0;
}
