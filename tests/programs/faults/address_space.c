// Too little address space for the detector's records: said in one line, with an exit code of its own.
// RUN: %cc -O1 %s -o %t && %exits 70 %run %t | %FileCheck %s
// CHECK: photofinish: out of memory for
#include <sys/mman.h>
#include <sys/resource.h>

int main(void) {
  const struct rlimit little = {1 << 30, 1 << 30};
  if (setrlimit(RLIMIT_AS, &little) != 0) return 1;
  for (int i = 0; i < 1000; i++) {
    void* far = (void*)(0x100000000000 + ((long)i << 26));
    int* p = mmap(far, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != far) return 1;
    *p = i;
  }
  return 0;
}
