// What the instruction before a program counter did, by the entry point that the compiler has it announced with.
#pragma once
#include <cstdint>

#include "core/event.h"

namespace pf::rt {

struct Announced {
  bool known;
  Op op;
  uint32_t size;
};
// Looks back through a few instructions for the last such call. Safe for any pc of an instrumented module.
Announced announced_before(uintptr_t pc);

}  // namespace pf::rt
