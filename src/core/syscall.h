// A raw system call. Inside the target libc's wrappers are out of the question: they set errno, are cancellation points,
// and may be intercepted by us.
#pragma once

namespace pf::kernel {

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);
// What the kernel writes is not seen by clang's analyzer, unless it knows nothing of the call.
#ifndef __clang_analyzer__
inline long call(long number, long a, long b, long c, long d, long e, long f) {
  long result = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#endif
inline long call_on(long number, const void* p, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return call(number, reinterpret_cast<long>(p), b, c, d, e, f);
}
inline bool failed(long result) { return result < 0 && result > -4096; }

}  // namespace pf::kernel
