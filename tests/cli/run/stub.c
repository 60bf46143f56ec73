// Stands in for the runtime: enough of the entry points to link and run a small instrumented program. Says that it is there.
#include <stdio.h>

#define ENTRY(name) void __tsan_##name(void* p) { (void)p; }
ENTRY(func_entry)
ENTRY(func_exit)
ENTRY(read1) ENTRY(read2) ENTRY(read4) ENTRY(read8) ENTRY(read16)
ENTRY(write1) ENTRY(write2) ENTRY(write4) ENTRY(write8) ENTRY(write16)
ENTRY(unaligned_read4) ENTRY(unaligned_write4)

void __tsan_init(void) {
  static int called;
  if (!called++) fputs("stub runtime\n", stderr);
}
