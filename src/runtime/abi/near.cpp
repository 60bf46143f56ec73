// The hot entry points once more, as code that may be copied (near.h): what is nothing new ends here, and for the rest the library
// is called.
#include "runtime/near.h"

#include "runtime/abi/accesses.h"
#include "runtime/abi/calls.h"
#include "runtime/abi/hot.h"

PF_DECLARE_ALL_ACCESSES
extern "C" void __tsan_func_entry(void*);
extern "C" void __tsan_func_exit();
extern "C" void __tsan_vptr_read(void**);

namespace pf::rt {

// All that the code refers to. A thread's own variables are known by their distance from where it has them.
struct NearData {
  static constexpr unsigned kSizes = 5;

  Host::Shared shared;
  intptr_t watched, in_calls;
  void (*read[kSizes])(void* p);
  void (*write[kSizes])(void* p);
  void (*read_pc[kSizes])(void* p, void* pc);
  void (*write_pc[kSizes])(void* p, void* pc);
  decltype(&enter_unknown) enter;
  decltype(&leave_unknown) leave;
};
#define PF_OF_ALL_SIZES(F, OP) {&F<OP, 1>, &F<OP, 2>, &F<OP, 4>, &F<OP, 8>, &F<OP, 16>}
// Of all files: of a variable that only this one can see the compiler would put the values into the code.
PF_NEAR_DATA constinit NearData g_near_data = {Host::shared(),
                                               0,
                                               0,
                                               PF_OF_ALL_SIZES(access_unknown, Op::Read),
                                               PF_OF_ALL_SIZES(access_unknown, Op::Write),
                                               PF_OF_ALL_SIZES(access_unknown_pc, Op::Read),
                                               PF_OF_ALL_SIZES(access_unknown_pc, Op::Write),
                                               &enter_unknown,
                                               &leave_unknown};

namespace {

constexpr unsigned place_of(unsigned size) { return static_cast<unsigned>(__builtin_ctz(size)); }

[[gnu::always_inline]] inline Thread* of_this_thread(intptr_t variable) {
  Thread* t;
  __asm__("mov %%fs:(%1), %0" : "=r"(t) : "r"(variable));
  return t;
}

struct Near {
  static Thread* watched() { return of_this_thread(g_near_data.watched); }
  static Thread* in_calls() { return of_this_thread(g_near_data.in_calls); }
  static const Host::Shared& shared() { return g_near_data.shared; }
};

#define PF_NEAR(NAME, OP, SIZE)                                                                                        \
  PF_NEAR_CODE void near_##NAME(void* p) {                                                                             \
    if (Host::is_known<OP, SIZE, Near>(address_of(p), PF_CALLER_PC)) [[likely]]                                        \
      return;                                                                                                          \
    (writes(OP) ? g_near_data.write : g_near_data.read)[place_of(SIZE)](p);                                            \
  }
#define PF_NEAR_PC(NAME, OP, SIZE)                                                                                     \
  PF_NEAR_CODE void near_##NAME(void* p, void* pc) {                                                                   \
    if (Host::is_known<OP, SIZE, Near>(address_of(p), address_of(pc))) [[likely]]                                      \
      return;                                                                                                          \
    (writes(OP) ? g_near_data.write_pc : g_near_data.read_pc)[place_of(SIZE)](p, pc);                                  \
  }
PF_ALL_ACCESSES(PF_NEAR, PF_NEAR_PC)

PF_NEAR_CODE void near_func_entry(void* caller) {
  if (!enter_known<Host, Near>(address_of(caller), address_of(__builtin_dwarf_cfa()))) [[unlikely]]
    g_near_data.enter(address_of(caller), address_of(__builtin_dwarf_cfa()), PF_CALLER_PC);
}
PF_NEAR_CODE void near_func_exit() {
  if (!leave_known<Host, Near>()) [[unlikely]]
    g_near_data.leave(PF_CALLER_PC);
}

#define PF_ENTRY(NAME, OP, SIZE)                                                                                       \
  {"__tsan_" #NAME, reinterpret_cast<const void*>(&__tsan_##NAME), reinterpret_cast<const void*>(&near_##NAME)},
const near::Entry kEntries[] = {
    PF_ALL_ACCESSES(PF_ENTRY, PF_ENTRY) PF_ENTRY(func_entry, , ) PF_ENTRY(func_exit, , )
    // A pointer to a virtual table is read like any.
    {"__tsan_vptr_read", reinterpret_cast<const void*>(&__tsan_vptr_read), reinterpret_cast<const void*>(&near_read8)}};

intptr_t place_of(Thread* const& variable) {
  return reinterpret_cast<intptr_t>(&variable) - reinterpret_cast<intptr_t>(__builtin_thread_pointer());
}

}  // namespace

void install_near_code() {
  g_near_data.watched = place_of(watched);
  g_near_data.in_calls = place_of(in_calls);
  near::install({kEntries, sizeof kEntries / sizeof *kEntries});
}

}  // namespace pf::rt
