// Random bytes of the kernel: what they leave in the program's memory.
#include <sys/random.h>
#include <unistd.h>

#include "runtime/intercept/intercept.h"

using namespace pf::rt;

PF_REAL(getrandom);
PF_REAL(getentropy);

PF_EXPORT ssize_t getrandom(void* to, std::size_t n, unsigned flags) {
  const ssize_t got = real_getrandom(to, n, flags);
  if (Thread* t = got > 0 ? calling_thread() : nullptr; t != nullptr)
    note_write(*t, to, static_cast<std::size_t>(got), PF_CALLER_PC);
  return got;
}
PF_EXPORT int getentropy(void* to, std::size_t n) {
  const int result = real_getentropy(to, n);
  if (Thread* t = result == 0 ? calling_thread() : nullptr; t != nullptr) note_write(*t, to, n, PF_CALLER_PC);
  return result;
}
