// Which code was compiled for a detector: what other code orders by atomics of its own we cannot see, so what it does to
// memory by calls is not held against it where a race is likely to be no more than that.
#pragma once
#include <cstdint>

namespace pf::rt {

// A program or library as it is loaded, by any address in it.
struct Module {
  uintptr_t begin, bias;
  const char* path;  // empty: the program
};
bool find_module(uintptr_t address, Module& module);

// Whether the code at pc is of a module that calls us. Cheap: a compare for the program itself, else a search without locks.
bool is_instrumented(uintptr_t pc);
// Whether any module is that is there now.
bool is_any_instrumented();
// A module is gone, and another may come in its place.
void forget_instrumented();

}  // namespace pf::rt
