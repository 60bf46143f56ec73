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

// What the allocator does meanwhile (clearing memory, its own locks) is not the program's.
template <class F>
auto inside(F f) {
  Thread* t = self;
  if (t == nullptr) return f();
  ++t->inside;
  const auto result = f();
  --t->inside;
  return result;
}

void* noted(void* p, std::size_t size, uintptr_t pc) {
  if (Thread* t = current(); t != nullptr) heap::allocated(*t, p, size, pc);
  return p;
}

}  // namespace

static void* malloc_at(std::size_t size, uintptr_t pc) {
  if (too_early(real_malloc)) return early(size);
  return noted(inside([=] { return real_malloc(size); }), size, pc);
}
static void free_at(void* p, uintptr_t pc) {
  if (p == nullptr || is_early(p)) return;
  if (Thread* t = current(); t != nullptr) heap::freeing(*t, p, pc);
  inside([=] { return real_free(p), 0; });
}

PF_EXPORT void* malloc(std::size_t size) noexcept { return malloc_at(size, PF_CALLER_PC); }

PF_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  if (too_early(real_calloc)) return early(count * size);
  return noted(inside([=] { return real_calloc(count, size); }), count * size, PF_CALLER_PC);
}

PF_EXPORT void free(void* p) noexcept { free_at(p, PF_CALLER_PC); }

// For programs with a malloc of their own on top of ours.
PF_EXPORT void* __interceptor_malloc(std::size_t size) noexcept { return malloc_at(size, PF_CALLER_PC); }
PF_EXPORT void __interceptor_free(void* p) noexcept { free_at(p, PF_CALLER_PC); }

static void* reallocate(void* p, std::size_t size, uintptr_t pc) {
  if (is_early(p)) {
    void* fresh = noted(inside([=] { return real_malloc(size); }), size, pc);
    if (fresh != nullptr) __builtin_memcpy(fresh, p, size);  // the arena is larger than any early block
    return fresh;
  }
  Thread* t = current();
  if (t == nullptr) return inside([=] { return real_realloc(p, size); });
  if (p != nullptr) heap::freeing(*t, p, pc);
  void* fresh = inside([=] { return real_realloc(p, size); });
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
  const int result = inside([=] { return real_posix_memalign(to, alignment, size); });
  if (result == 0) noted(*to, size, PF_CALLER_PC);
  return result;
}
PF_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return noted(inside([=] { return real_aligned_alloc(alignment, size); }), size, PF_CALLER_PC);
}
PF_EXPORT void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return noted(inside([=] { return real_memalign(alignment, size); }), size, PF_CALLER_PC);
}
PF_EXPORT void* valloc(std::size_t size) noexcept {
  return noted(inside([=] { return real_valloc(size); }), size, PF_CALLER_PC);
}
PF_EXPORT void* pvalloc(std::size_t size) noexcept {
  return noted(inside([=] { return real_pvalloc(size); }), size, PF_CALLER_PC);
}

// operator new and delete: those of the C++ library end up in the functions above; here they only say where the program called them.
// Those of another allocator go their own way, and are told here.
static bool has_own_operators() {
  static constinit int known = 0;  // 0 not yet, 1 no, 2 yes
  int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (state != 0) return state == 2;
  Dl_info allocator{}, operators{};
  const bool both = dladdr(reinterpret_cast<void*>(real_malloc.get()), &allocator) != 0 &&
                    dladdr(libc::next("_Znwm"), &operators) != 0;
  state = both && allocator.dli_fbase == operators.dli_fbase ? 2 : 1;
  __atomic_store_n(&known, state, __ATOMIC_RELAXED);
  return state == 2;
}

// By their mangled names: the language lets nobody declare them without replacing them.
#define PF_NEW(MANGLED, PARAMETERS, ...)                                                                               \
  static constinit Real<void*(*)PARAMETERS> real_##MANGLED{#MANGLED};                                                  \
  PF_EXPORT void* MANGLED PARAMETERS {                                                                                 \
    const CalledAt here(PF_CALLER_PC);                                                                                 \
    if (!has_own_operators()) return real_##MANGLED(__VA_ARGS__);                                                      \
    return noted(inside([=] { return real_##MANGLED(__VA_ARGS__); }), n, PF_CALLER_PC);                                \
  }
// One that throws must do so from outside: nobody here could clean up. SILENT is the one that does not.
#define PF_THROWING_NEW(MANGLED, SILENT, PARAMETERS, ...)                                                              \
  static constinit Real<void*(*)PARAMETERS> real_##MANGLED{#MANGLED};                                                  \
  PF_EXPORT void* MANGLED PARAMETERS {                                                                                 \
    const CalledAt here(PF_CALLER_PC);                                                                                 \
    if (!has_own_operators()) return real_##MANGLED(__VA_ARGS__);                                                      \
    void* p = inside([=] { return real_##SILENT(__VA_ARGS__, &kSilently); });                                          \
    return noted(p != nullptr ? p : real_##MANGLED(__VA_ARGS__), n, PF_CALLER_PC);                                     \
  }
#define PF_DELETE(MANGLED, PARAMETERS, ...)                                                                            \
  static constinit Real<void(*) PARAMETERS> real_##MANGLED{#MANGLED};                                                  \
  PF_EXPORT void MANGLED PARAMETERS {                                                                                  \
    const CalledAt here(PF_CALLER_PC);                                                                                 \
    if (!has_own_operators()) return real_##MANGLED(__VA_ARGS__);                                                      \
    if (Thread* t = current(); t != nullptr) heap::freeing(*t, p, PF_CALLER_PC);                                       \
    inside([=] { return real_##MANGLED(__VA_ARGS__), 0; });                                                            \
  }

static constexpr char kSilently = 0;  // std::nothrow, whose value nobody looks at

PF_NEW(_ZnwmRKSt9nothrow_t, (std::size_t n, const void* tag), n, tag)
PF_NEW(_ZnamRKSt9nothrow_t, (std::size_t n, const void* tag), n, tag)
PF_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a, const void* tag), n, a, tag)
PF_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a, const void* tag), n, a, tag)
PF_THROWING_NEW(_Znwm, _ZnwmRKSt9nothrow_t, (std::size_t n), n)
PF_THROWING_NEW(_Znam, _ZnamRKSt9nothrow_t, (std::size_t n), n)
PF_THROWING_NEW(_ZnwmSt11align_val_t, _ZnwmSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a), n, a)
PF_THROWING_NEW(_ZnamSt11align_val_t, _ZnamSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a), n, a)
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
