// A program of 32 bits is refused in so many words, and goes on. It needs no library, since there may be none for it.
// RUN: %plaincc -m32 -nostdlib -static -ffreestanding -fno-pie %s -o %t
// RUN: %attached %t -- 'photofinish attach $pid' | %FileCheck %s
// CHECK: photofinish: process {{[0-9]+}} is not a 64-bit program of this machine
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: ready
// CHECK-NEXT: program: exit code 138

static int call(int number, int a, const void* b, int c) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}

void _start(void) {
  enum { kWrite = 4, kPause = 29 };
  call(kWrite, 1, "ready\n", 6);
  for (;;) call(kPause, 0, 0, 0);
}
