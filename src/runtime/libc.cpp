#include "runtime/libc.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>

#include "runtime/say.h"

namespace pf::rt::libc {

namespace {

using Find = void* (*)(const char*);
constinit Find g_find = nullptr;

}  // namespace

void find_next_by(void* (*find)(const char*)) { g_find = find; }
void* next(const char* name) { return g_find != nullptr ? g_find(name) : dlsym(RTLD_NEXT, name); }
void* next(const char* name, const char* version) { return dlvsym(RTLD_NEXT, name, version); }

// The thread control block's first word points at itself, and is what glibc uses as the handle.
pthread_t pthread_self() {
  pthread_t handle = 0;
  __asm__("mov %%fs:0, %0" : "=r"(handle));
  return handle;
}

namespace {

// How many bytes of thread-local storage lie below the control block, the same for every thread. The loader counts the
// control block in.
uintptr_t static_tls() {
  using Ask = void (*)(size_t*, size_t*);
  static constinit uintptr_t known = 0;
  if (known != 0) return known;
  constexpr size_t kControlBlock = 2304, kGuess = 4096;
  size_t size = 0, alignment = 0;
  if (auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info")); ask != nullptr) {
    ask(&size, &alignment);
  }
  return known = size > kControlBlock ? size - kControlBlock : kGuess;
}

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
  range.tls_begin = range.tls_end - static_tls();
  return range;
}

}  // namespace pf::rt::libc
