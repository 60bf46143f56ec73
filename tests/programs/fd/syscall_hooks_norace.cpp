// Raw system calls that the program announces by <sanitizer/linux_syscall_hooks.h>, as libuv does.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" {
void __sanitizer_syscall_pre_impl_write(long fd, long from, long n);
void __sanitizer_syscall_post_impl_write(long result, long fd, long from, long n);
void __sanitizer_syscall_pre_impl_readv(long fd, long v, long count);
void __sanitizer_syscall_post_impl_readv(long result, long fd, long v, long count);
void __sanitizer_syscall_pre_impl_close(long fd);
void __sanitizer_syscall_post_impl_close(long result, long fd);
void __sanitizer_syscall_pre_impl_sched_yield();  // and many more that have no meaning here
void __sanitizer_syscall_post_impl_sched_yield(long result);
}

int shared, ends[2];

static void write_one() {
  const long from = reinterpret_cast<long>("x");
  __sanitizer_syscall_pre_impl_write(ends[1], from, 1);
  const long n = syscall(SYS_write, ends[1], from, 1);
  __sanitizer_syscall_post_impl_write(n, ends[1], from, 1);
}
static long read_one(char* to) {
  iovec piece = {to, 1};
  const long v = reinterpret_cast<long>(&piece);
  __sanitizer_syscall_pre_impl_readv(ends[0], v, 1);
  const long n = syscall(SYS_readv, ends[0], v, 1);
  __sanitizer_syscall_post_impl_readv(n, ends[0], v, 1);
  return n;
}

int main() {
  if (pipe(ends)) return 1;
  together(
      [] {
        shared = 1;
        write_one();
        __sanitizer_syscall_pre_impl_close(ends[1]);
        const long result = syscall(SYS_close, ends[1]);
        __sanitizer_syscall_post_impl_close(result, ends[1]);
      },
      [] {
        char byte = 0;
        if (read_one(&byte) != 1 || byte != 'x') abort();
        shared++;
        __sanitizer_syscall_pre_impl_sched_yield();
        __sanitizer_syscall_post_impl_sched_yield(syscall(SYS_sched_yield));
      });
  return shared - 2;
}
