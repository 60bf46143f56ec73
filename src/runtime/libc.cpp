#include "runtime/libc.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>

#include "runtime/say.h"

namespace pf::rt::libc {

void* next(const char* name) { return dlsym(RTLD_NEXT, name); }
void* next(const char* name, const char* version) { return dlvsym(RTLD_NEXT, name, version); }

// The thread control block's first word points at itself, and is what glibc uses as the handle.
pthread_t pthread_self() {
  pthread_t handle = 0;
  __asm__("mov %%fs:0, %0" : "=r"(handle));
  return handle;
}

namespace {

// How much static thread-local storage lies below the control block; it is there for every thread.
constexpr uintptr_t kStaticTls = uintptr_t{64} << 10;

}  // namespace

StackRange own_stack() {
  StackRange range{};
  pthread_attr_t attributes;
  if (pthread_getattr_np(::pthread_self(), &attributes) != 0) return range;
  void* begin = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  range.begin = reinterpret_cast<uintptr_t>(begin);
  range.end = range.begin + size;
  range.tls_end = libc::pthread_self();
  range.tls_begin = range.tls_end - kStaticTls;
  if (range.tls_end > range.begin && range.tls_end <= range.end && range.tls_begin < range.begin) {
    range.tls_begin = range.begin;
  }
  return range;
}

}  // namespace pf::rt::libc
