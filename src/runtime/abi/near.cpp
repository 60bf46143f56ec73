// The hot entry points once more, as a block of code that may be copied (near.h): what is nothing new ends here, and for the rest the
// library is called.
#include "runtime/near.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/abi/accesses.h"
#include "runtime/abi/calls.h"
#include "runtime/abi/hot.h"

namespace pf::rt {

namespace {

// All that the code refers to.
constexpr std::size_t kSharedWords = sizeof(Host::Shared) / sizeof(uintptr_t);
using SharedWords = std::array<uintptr_t, kSharedWords>;
constexpr unsigned kOfCalls = near::kEntries - 2;  // before these, entries are of accesses
enum Value : uint32_t { kWatched, kInCalls, kEnter, kLeave, kShared };
constexpr uint32_t kAccesses = kShared + kSharedWords, kValues = kAccesses + kOfCalls;

constexpr unsigned place_of(unsigned size) { return static_cast<unsigned>(__builtin_ctz(size)); }
constexpr unsigned entry_of(Op op, unsigned size) { return place_of(size) * 2 + (writes(op) ? 1 : 0); }

struct Near {
  static Thread* watched() { return near::variable<kWatched, Thread>(); }
  static Thread* in_calls() { return near::variable<kInCalls, Thread>(); }
  static Host::Shared shared() { return shared_of(std::make_index_sequence<kSharedWords>()); }
  template <std::size_t... kWord>
  [[gnu::always_inline]] static Host::Shared shared_of(std::index_sequence<kWord...> /*all*/) {
    return std::bit_cast<Host::Shared>(SharedWords{near::value<kShared + kWord>()...});
  }
};

// A function of the library.
template <class F, uint32_t kValue>
F* far() {
  return reinterpret_cast<F*>(near::value<kValue>());
}

template <Op kOp, unsigned kSize>
[[gnu::always_inline]] inline void access_near(void* p, uintptr_t pc) {
  if (Host::is_known<kOp, kSize, Near>(address_of(p), pc)) [[likely]]
    return;
  far<void(void*), kAccesses + entry_of(kOp, kSize)>()(p);
}

#define PF_NEAR(SIZE)                                                                                                  \
  PF_NEAR_CODE void near_read##SIZE(void* p) { access_near<Op::Read, SIZE>(p, PF_CALLER_PC); }                         \
  PF_NEAR_CODE void near_write##SIZE(void* p) { access_near<Op::Write, SIZE>(p, PF_CALLER_PC); }
PF_NEAR(1)
PF_NEAR(2)
PF_NEAR(4)
PF_NEAR(8)
PF_NEAR(16)

// Where the caller's stack ends. Nothing here moves the stack pointer; __builtin_dwarf_cfa() would have a frame made.
[[gnu::always_inline]] inline uintptr_t callers_stack() {
  uintptr_t end;
  __asm__("leaq 8(%%rsp), %0" : "=r"(end));
  return end;
}
PF_NEAR_CODE void near_func_entry(void* caller) {
  if (!enter_known<Host, Near>(address_of(caller), callers_stack())) [[unlikely]]
    far<decltype(enter_unknown), kEnter>()(address_of(caller), callers_stack(), PF_CALLER_PC);
}
PF_NEAR_CODE void near_func_exit() {
  if (!leave_known<Host, Near>()) [[unlikely]]
    far<decltype(leave_unknown), kLeave>()(PF_CALLER_PC);
}

#define PF_ENTRY(NAME) reinterpret_cast<const void*>(&near_##NAME),
const void* const kEntries[] = {PF_NEAR_ENTRIES(PF_ENTRY)};
static_assert(sizeof kEntries / sizeof *kEntries == near::kEntries);

#define PF_NAME(NAME, OP, SIZE) {"__tsan_" #NAME, entry_of(OP, SIZE)},
#define PF_NO_NAME(NAME, OP, SIZE)  // compilers do not call these
const near::Code::Name kNames[] = {PF_ALL_ACCESSES(PF_NAME, PF_NO_NAME)
                                   // A pointer to a virtual table is read like any.
                                   {"__tsan_vptr_read", entry_of(Op::Read, sizeof(void*))},
                                   {"__tsan_func_entry", kOfCalls},
                                   {"__tsan_func_exit", kOfCalls + 1}};

uintptr_t distance_of(Thread* const& variable) {
  return reinterpret_cast<uintptr_t>(&variable) - reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
}

template <unsigned kSize>
void set_accesses(uintptr_t* values) {
  values[kAccesses + entry_of(Op::Read, kSize)] = reinterpret_cast<uintptr_t>(&access_unknown<Op::Read, kSize>);
  values[kAccesses + entry_of(Op::Write, kSize)] = reinterpret_cast<uintptr_t>(&access_unknown<Op::Write, kSize>);
}

}  // namespace

void install_near_code() {
  static constinit uintptr_t values[kValues] = {};
  const auto shared = std::bit_cast<SharedWords>(Host::shared());
  std::memcpy(values + kShared, &shared, sizeof shared);
  values[kWatched] = distance_of(watched);
  values[kInCalls] = distance_of(in_calls);
  values[kEnter] = reinterpret_cast<uintptr_t>(&enter_unknown);
  values[kLeave] = reinterpret_cast<uintptr_t>(&leave_unknown);
  set_accesses<1>(values);
  set_accesses<2>(values);
  set_accesses<4>(values);
  set_accesses<8>(values);
  set_accesses<16>(values);
  near::install({kNames, sizeof kNames / sizeof *kNames, kEntries, values});
}

}  // namespace pf::rt
