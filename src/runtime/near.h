// Hot code near the program. A program calls the runtime through a table of the linker's, since a library may be anywhere: that is an
// indirect jump for every access, which costs more than all that a hot entry point does. So the hot entry points are there
// twice: as functions of the library, and as code that may be copied (section pf_near), to a place within reach of a direct jump. At
// start each module gets such a copy, and its jumps to the entry points become direct ones to that.
//
//   program   call ─▶ jmp *table ─▶ library          before
//   program   call ─▶ jmp ─▶ copy                    after; the copy jumps to the library if there is something to do
//
// What the code refers to moves along with it (section pf_near_data), at the same distance; check_library.py sees to it that it
// refers to nothing else. Where the kernel does not let us write code, or a module has no such jumps, all stays as it is.
#pragma once
#include <cstddef>
#include <cstdint>

#define PF_NEAR_CODE [[gnu::section("pf_near"), gnu::used, gnu::noinline]]
#define PF_NEAR_DATA [[gnu::section("pf_near_data")]]

namespace pf::rt::near {

struct Entry {
  const char* name;      // of the entry point
  const void* function;  // the library's,
  const void* code;      // and the one that may be copied
};
struct Entries {
  const Entry* first;
  std::size_t count;
};

// Once, when the program has one thread. Data must be complete.
void install(const Entries& entries);

// The entry point that the code at an address stands for, or null.
const void* entry_point_at(uintptr_t address);

}  // namespace pf::rt::near

namespace pf::rt {

// Of the detector that this library is for (abi/near.cpp).
void install_near_code();

}  // namespace pf::rt
