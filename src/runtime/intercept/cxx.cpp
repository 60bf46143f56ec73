// What the C++ library does with atomics of its own that we cannot see, since it is not instrumented: static initialization and the
// reference counts of exceptions.
#include <cstddef>

#include "runtime/intercept/intercept.h"

using namespace pf::rt;

// A program may want to know when it may have to wait for another thread (TSan's name for it).
namespace __tsan {
[[gnu::weak]] void OnPotentiallyBlockingRegionBegin();
[[gnu::weak]] void OnPotentiallyBlockingRegionEnd();
}  // namespace __tsan

namespace {

constinit Real<int (*)(void*)> real_acquire{"__cxa_guard_acquire"};
constinit Real<void (*)(void*)> real_release{"__cxa_guard_release"};
constinit Real<void (*)(void*)> real_abort{"__cxa_guard_abort"};

}  // namespace

PF_EXPORT int __cxa_guard_acquire(void* guard) {
  if (__tsan::OnPotentiallyBlockingRegionBegin != nullptr) __tsan::OnPotentiallyBlockingRegionBegin();
  const int mine = real_acquire(guard);
  if (__tsan::OnPotentiallyBlockingRegionEnd != nullptr) __tsan::OnPotentiallyBlockingRegionEnd();
  if (Thread* t = current(); mine == 0 && t != nullptr) host::acquire_atomic(*t, address_of(guard));
  return mine;
}
PF_EXPORT void __cxa_guard_release(void* guard) {
  if (Thread* t = current(); t != nullptr) host::release_atomic(*t, address_of(guard));
  real_release(guard);
}
PF_EXPORT void __cxa_guard_abort(void* guard) {
  if (Thread* t = current(); t != nullptr) host::release_atomic(*t, address_of(guard));
  real_abort(guard);
}

// std::exception_ptr: each count up or down is an acquire and a release of the exception, so that whoever destroys it
// comes after all who used it.
#define PF_COUNT(MANGLED)                                                                                              \
  static constinit Real<void (*)(void*)> real_##MANGLED{#MANGLED};                                                     \
  PF_EXPORT void MANGLED(void* pointer) {                                                                              \
    void* exception = *static_cast<void**>(pointer);                                                                   \
    Thread* t = exception != nullptr ? current() : nullptr;                                                            \
    if (t != nullptr) {                                                                                                \
      host::post(*t, address_of(exception));                                                                           \
      host::take(*t, address_of(exception));                                                                           \
    }                                                                                                                  \
    real_##MANGLED(pointer);                                                                                           \
  }

PF_COUNT(_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv)
PF_COUNT(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)
