// malloc and its family, operator new and delete. The memory is the program's own allocator's, whichever that is.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "runtime/heap.h"
#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

PF_REAL(malloc);
PF_REAL(calloc);
PF_REAL(realloc);
PF_REAL(reallocarray);
PF_REAL(free);
PF_REAL(posix_memalign);
PF_REAL(aligned_alloc);
PF_REAL(memalign);
PF_REAL(valloc);
PF_REAL(pvalloc);

// dlsym itself may allocate, before the real functions are known: from here, never freed.
constinit char g_early[16384];
constinit std::size_t g_early_used = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool g_looking = false;

bool is_early(const void* p) { return address_of(p) - address_of(g_early) < sizeof g_early; }
void* early(std::size_t size) {
  const std::size_t at = __atomic_fetch_add(&g_early_used, (size + 31) / 16 * 16, __ATOMIC_RELAXED);
  return at + size <= sizeof g_early ? g_early + at : nullptr;
}

// Whether the real function is not there yet because we are looking for it.
template <class F>
bool too_early(F& real) {
  if (g_looking) return true;
  g_looking = true;
  real.get();
  g_looking = false;
  return false;
}

void* noted(void* p, std::size_t size, uintptr_t pc) {
  if (Thread* t = current(); t != nullptr) heap::allocated(*t, p, size, pc);
  return p;
}

}  // namespace

static void* malloc_at(std::size_t size, uintptr_t pc) {
  if (too_early(real_malloc)) return early(size);
  return noted(real_malloc(size), size, pc);
}
static void free_at(void* p, uintptr_t pc) {
  if (p == nullptr || is_early(p)) return;
  if (Thread* t = current(); t != nullptr) heap::freeing(*t, p, pc);
  real_free(p);
}

PF_EXPORT void* malloc(std::size_t size) noexcept { return malloc_at(size, PF_CALLER_PC); }

PF_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  if (too_early(real_calloc)) return early(count * size);
  return noted(real_calloc(count, size), count * size, PF_CALLER_PC);
}

PF_EXPORT void free(void* p) noexcept { free_at(p, PF_CALLER_PC); }

// For programs with a malloc of their own on top of ours.
PF_EXPORT void* __interceptor_malloc(std::size_t size) noexcept { return malloc_at(size, PF_CALLER_PC); }
PF_EXPORT void __interceptor_free(void* p) noexcept { free_at(p, PF_CALLER_PC); }

static void* reallocate(void* p, std::size_t size, uintptr_t pc) {
  if (is_early(p)) {
    void* fresh = noted(real_malloc(size), size, pc);
    if (fresh != nullptr) __builtin_memcpy(fresh, p, size);  // the arena is larger than any early block
    return fresh;
  }
  Thread* t = current();
  if (t == nullptr) return real_realloc(p, size);
  if (p != nullptr) heap::freeing(*t, p, pc);
  void* fresh = real_realloc(p, size);
  if (fresh != nullptr) {
    heap::allocated(*t, fresh, size, pc);
  } else if (p != nullptr && size != 0) {
    heap::kept(*t, p);
  }
  return fresh;
}

PF_EXPORT void* realloc(void* p, std::size_t size) noexcept { return reallocate(p, size, PF_CALLER_PC); }
PF_EXPORT void* reallocarray(void* p, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return real_reallocarray(p, count, size);  // fails, with its errno
  return reallocate(p, bytes, PF_CALLER_PC);
}

PF_EXPORT int posix_memalign(void** to, std::size_t alignment, std::size_t size) noexcept {
  const int result = real_posix_memalign(to, alignment, size);
  if (result == 0) noted(*to, size, PF_CALLER_PC);
  return result;
}
PF_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return noted(real_aligned_alloc(alignment, size), size, PF_CALLER_PC);
}
PF_EXPORT void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return noted(real_memalign(alignment, size), size, PF_CALLER_PC);
}
PF_EXPORT void* valloc(std::size_t size) noexcept { return noted(real_valloc(size), size, PF_CALLER_PC); }
PF_EXPORT void* pvalloc(std::size_t size) noexcept { return noted(real_pvalloc(size), size, PF_CALLER_PC); }

// operator new and delete end up in the functions above; here they only say where the program called them.
// By their mangled names: the language lets nobody declare them without replacing them.
#define PF_NEW(MANGLED, PARAMETERS, ...)                                                                               \
  static constinit Real<void*(*)PARAMETERS> real_##MANGLED{#MANGLED};                                                  \
  PF_EXPORT void* MANGLED PARAMETERS {                                                                                 \
    const CalledAt here(PF_CALLER_PC);                                                                                 \
    return real_##MANGLED(__VA_ARGS__);                                                                                \
  }
#define PF_DELETE(MANGLED, PARAMETERS, ...)                                                                            \
  static constinit Real<void(*) PARAMETERS> real_##MANGLED{#MANGLED};                                                  \
  PF_EXPORT void MANGLED PARAMETERS {                                                                                  \
    const CalledAt here(PF_CALLER_PC);                                                                                 \
    real_##MANGLED(__VA_ARGS__);                                                                                       \
  }

PF_NEW(_Znwm, (std::size_t n), n)
PF_NEW(_Znam, (std::size_t n), n)
PF_NEW(_ZnwmRKSt9nothrow_t, (std::size_t n, const void* tag), n, tag)
PF_NEW(_ZnamRKSt9nothrow_t, (std::size_t n, const void* tag), n, tag)
PF_NEW(_ZnwmSt11align_val_t, (std::size_t n, std::size_t a), n, a)
PF_NEW(_ZnamSt11align_val_t, (std::size_t n, std::size_t a), n, a)
PF_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a, const void* tag), n, a, tag)
PF_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a, const void* tag), n, a, tag)
PF_DELETE(_ZdlPv, (void* p), p)
PF_DELETE(_ZdaPv, (void* p), p)
PF_DELETE(_ZdlPvm, (void* p, std::size_t n), p, n)
PF_DELETE(_ZdaPvm, (void* p, std::size_t n), p, n)
PF_DELETE(_ZdlPvRKSt9nothrow_t, (void* p, const void* tag), p, tag)
PF_DELETE(_ZdaPvRKSt9nothrow_t, (void* p, const void* tag), p, tag)
PF_DELETE(_ZdlPvSt11align_val_t, (void* p, std::size_t a), p, a)
PF_DELETE(_ZdaPvSt11align_val_t, (void* p, std::size_t a), p, a)
PF_DELETE(_ZdlPvmSt11align_val_t, (void* p, std::size_t n, std::size_t a), p, n, a)
PF_DELETE(_ZdaPvmSt11align_val_t, (void* p, std::size_t n, std::size_t a), p, n, a)
