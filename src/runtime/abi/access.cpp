// Plain accesses, as GCC and Clang announce them before they make them. Hot: every function here is a leaf until the
// access turns out to be new in its epoch (tests/runtime/check_library.py counts the instructions).
#include "runtime/abi/abi.h"
#include "runtime/abi/accesses.h"
#include "runtime/literace.h"
#include "runtime/this_detector.h"

using namespace pf;
using namespace pf::rt;

// Aligned, so that the way through a short one is in one line of the cache.
#define PF_ACCESS(NAME, OP, SIZE)                                                                                      \
  PF_EXPORT [[gnu::aligned(32)]] void __tsan_##NAME(void* p) { Host::access<OP, SIZE>(address_of(p), PF_CALLER_PC); }
#define PF_ACCESS_PC(NAME, OP, SIZE)                                                                                   \
  PF_EXPORT void __tsan_##NAME(void* p, void* pc) { Host::access<OP, SIZE>(address_of(p), address_of(pc)); }
PF_ALL_ACCESSES(PF_ACCESS, PF_ACCESS_PC)

// Accesses that the program makes through us, wherever they are.
#define PF_THROUGH(BITS)                                                                                               \
  PF_EXPORT uint##BITS##_t __sanitizer_unaligned_load##BITS(const void* p) {                                           \
    Host::access<Op::Read, BITS / 8>(address_of(p), PF_CALLER_PC);                                                     \
    uint##BITS##_t value;                                                                                              \
    __builtin_memcpy(&value, p, sizeof value);                                                                         \
    return value;                                                                                                      \
  }                                                                                                                    \
  PF_EXPORT void __sanitizer_unaligned_store##BITS(void* p, uint##BITS##_t value) {                                    \
    Host::access<Op::Write, BITS / 8>(address_of(p), PF_CALLER_PC);                                                    \
    __builtin_memcpy(p, &value, sizeof value);                                                                         \
  }
PF_THROUGH(16)
PF_THROUGH(32)
PF_THROUGH(64)

// A virtual table pointer that is written with the value it has is no change that anybody can see.
PF_EXPORT void __tsan_vptr_update(void** p, void* value) {
  if (*p != value) Host::access<Op::Write, sizeof(void*)>(address_of(static_cast<void*>(p)), PF_CALLER_PC);
}
PF_EXPORT void __tsan_vptr_read(void** p) {
  Host::access<Op::Read, sizeof(void*)>(address_of(static_cast<void*>(p)), PF_CALLER_PC);
}

namespace {

template <Op kOp>
void range(const void* p, uintptr_t size, uintptr_t pc) {
  Thread* t = current();
  if (t == nullptr) return;
  library::look_around(*t);
  ++t->accesses;
  if (Host::is_wanted<kOp>(*t, address_of(p), size)) Host::access_slow<kOp>(*t, address_of(p), size, pc);
}

}  // namespace

PF_EXPORT void __tsan_read_range(void* p, uintptr_t size) { range<Op::Read>(p, size, PF_CALLER_PC); }
PF_EXPORT void __tsan_write_range(void* p, uintptr_t size) { range<Op::Write>(p, size, PF_CALLER_PC); }
PF_EXPORT void __tsan_read_range_pc(void* p, uintptr_t size, void* pc) { range<Op::Read>(p, size, address_of(pc)); }
PF_EXPORT void __tsan_write_range_pc(void* p, uintptr_t size, void* pc) { range<Op::Write>(p, size, address_of(pc)); }

// --- the call stack ---

namespace {

// Of a host that takes note of calls.
template <class H>
[[gnu::always_inline]] inline void note_call(Thread& t, uintptr_t pc) {
  if constexpr (requires { H::called(t, pc); }) H::called(t, pc);
}
template <class H>
[[gnu::always_inline]] inline void note_return(Thread& t, uintptr_t pc) {
  if constexpr (requires { H::returned(t, pc); }) H::returned(t, pc);
}

// With a filter that samples by function, in a library's call, or on a thread that we have not met.
[[gnu::noinline]] void enter_slow(uintptr_t caller, uintptr_t stack_pointer, uintptr_t pc) {
  Thread* t = self;
  if (t == nullptr) return;
  if (t->bursts != nullptr) return literace::enter(*t, caller, stack_pointer, pc);
  library::enter(*t, caller);
  note_call<Host>(*t, pc);
  enter_function(*t, caller, stack_pointer);
}
[[gnu::noinline]] void leave_slow(uintptr_t pc) {
  Thread* t = self;
  if (t == nullptr) return;
  if (t->bursts != nullptr) return literace::leave(*t);
  library::look_around(*t);
  note_return<Host>(*t, pc);
  leave_function(*t);
  library::left(*t);
}

}  // namespace

PF_EXPORT void __tsan_func_entry(void* caller) {
  if (Thread* t = in_calls; t != nullptr) [[likely]] {
    note_call<Host>(*t, PF_CALLER_PC);
    return enter_function(*t, address_of(caller), address_of(__builtin_dwarf_cfa()));
  }
  enter_slow(address_of(caller), address_of(__builtin_dwarf_cfa()), PF_CALLER_PC);
}
PF_EXPORT void __tsan_func_exit() {
  if (Thread* t = in_calls; t != nullptr) [[likely]] {
    note_return<Host>(*t, PF_CALLER_PC);
    return leave_function(*t);
  }
  leave_slow(PF_CALLER_PC);
}
