// A raw system call that is announced reads and writes its buffers, and orders nothing that comes after it.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
void __sanitizer_syscall_pre_impl_write(long fd, long from, long n);
void __sanitizer_syscall_post_impl_read(long result, long fd, long to, long n);
}

int shared, ends[2];
char out[8], in[8];

int main() {
  if (pipe(ends)) return 1;
  in_turn(
      [] {
        const long from = reinterpret_cast<long>(out), to = reinterpret_cast<long>(in);
        __sanitizer_syscall_pre_impl_write(ends[1], from, 5);
        syscall(SYS_write, ends[1], from, 5);
        const long n = syscall(SYS_read, ends[0], to, 4);
        __sanitizer_syscall_post_impl_read(n, ends[0], to, 4);
        shared = 1;
      },
      [] {
        out[5] = in[4] = 1;  // none
        out[4] = 1;          // CHECK: race: read-write on global out of 8 bytes at offset 4
        in[3] = 1;           // CHECK: race: write-write on global in of 8 bytes at offset 3
        shared = 2;          // CHECK: race: write-write on global shared of 4 bytes
      });
}  // CHECK: 3 races in
