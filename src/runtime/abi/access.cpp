// Plain accesses, as GCC and Clang announce them before they make them. Hot: every function here is a leaf until the
// access turns out to be new in its epoch (tests/runtime/check_library.py counts the instructions).
#include "runtime/abi/accesses.h"
#include "runtime/abi/calls.h"
#include "runtime/abi/hot.h"
#include "runtime/abi/near_layout.h"
#include "runtime/literace.h"

using namespace pf;
using namespace pf::rt;

// Aligned, so that the way through a short one is in one line of the cache.
#define PF_ACCESS(NAME, OP, SIZE)                                                                                      \
  PF_EXPORT [[gnu::aligned(32)]] void __tsan_##NAME(void* p) { access_here<OP, SIZE>(p, PF_CALLER_PC); }
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

namespace pf::rt {
namespace {

// Of a host that takes note of calls.
template <class H>
void note_call(Thread& t, uintptr_t pc) {
  if constexpr (TakesNoteOfCalls<H>) H::called(t, pc);
}
template <class H>
void note_return(Thread& t, uintptr_t pc) {
  if constexpr (TakesNoteOfCalls<H>) H::returned(t, pc);
}

struct Here {
  static Thread* in_calls() { return rt::in_calls; }
};

}  // namespace

void enter_unknown(uintptr_t caller, uintptr_t stack_pointer, uintptr_t pc) {
  Thread* t = self;
  if (t == nullptr) return;
  if (t->bursts != nullptr) return literace::enter(*t, caller, stack_pointer, pc);
  if (in_calls == nullptr) library::enter(*t, caller);
  note_call<Host>(*t, pc);
  enter_function(*t, caller, stack_pointer);
}
void leave_unknown(uintptr_t pc) {
  Thread* t = self;
  if (t == nullptr) return;
  if (t->bursts != nullptr) return literace::leave(*t);
  const bool is_usual = in_calls != nullptr;
  if (!is_usual) library::look_around(*t);
  note_return<Host>(*t, pc);
  leave_function(*t);
  if (!is_usual) library::left(*t);
}

}  // namespace pf::rt

PF_EXPORT void __tsan_func_entry(void* caller) {
  if (enter_known<Host, Here>(address_of(caller), address_of(__builtin_dwarf_cfa()))) [[likely]]
    return;
  enter_unknown(address_of(caller), address_of(__builtin_dwarf_cfa()), PF_CALLER_PC);
}
PF_EXPORT void __tsan_func_exit() {
  if (leave_known<Host, Here>()) [[likely]]
    return;
  leave_unknown(PF_CALLER_PC);
}

// For programs whose block of hot code is not filled (abi/linked_calls.S).
#define PF_ENTRY(NAME) reinterpret_cast<const void*>(&__tsan_##NAME),
PF_EXPORT const void* const __photofinish_entries[] = {PF_NEAR_ENTRIES(PF_ENTRY)};
