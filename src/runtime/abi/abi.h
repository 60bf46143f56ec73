// What every file of entry points needs: how a function is exported, and where it was called.
#pragma once
#include <cstdint>

#define PF_EXPORT extern "C" __attribute__((visibility("default"), used))
// The program counter inside the call, to name the line of the call and not the next one.
#define PF_CALLER_PC (reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1)

namespace pf::rt {

inline uintptr_t address_of(const volatile void* p) { return reinterpret_cast<uintptr_t>(p); }

}  // namespace pf::rt
