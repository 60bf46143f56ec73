// Hot code near the program. A program calls the runtime through a table of the linker's, since a library may be anywhere: that is an
// indirect jump for every access, which costs more than all that a hot entry point does. So the hot entry points are there
// twice: as functions of the library, and as a block of code that may be copied (section pf_near; abi/near_layout.h has its layout).
// What pf-cc linked has room for a block in each module (abi/linked_calls.S), which the module's calls lead to; any other module that is there
// at start gets one within reach of a direct jump, and its jumps to the entry points become direct ones to that.
//
//   any program   call ─▶ jmp *table ─▶ library       before
//                 call ─▶ jmp ─▶ block                after; the block jumps to the library if there is something to do
//   by pf-cc      call ─▶ block                       after, the same
//
// What the code refers to are values in its instructions, which are written when it is copied (section pf_near_values says where);
// check_library.py sees to it that it refers to nothing else. Where the kernel does not let us write code, or a module has no such
// jumps, all stays as it is.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/abi/near_layout.h"

#define PF_NEAR_CODE [[gnu::section("pf_near"), gnu::used, gnu::noinline]]

namespace pf::rt::near {

inline constexpr std::size_t kSlotBytes = PF_NEAR_SLOT_BYTES, kBlockBytes = PF_NEAR_BLOCK_BYTES;
inline constexpr unsigned kEntries = PF_NEAR_ENTRY_COUNT;
static_assert(kEntries * kSlotBytes <= kBlockBytes);

// Which value is in an instruction, and where that is: the distance from here.
struct Place {
  int32_t distance;
  uint32_t value;
  static constexpr uint32_t kShort = 1U << 31;  // of 4 bytes, else of 8
};
#define PF_NEAR_PLACE(BYTES)                                                                                           \
  "\n0: .pushsection pf_near_values, \"a\", @progbits\n.long 0b - " #BYTES " - .\n.long %c1\n.popsection"

// A value in the code.
template <uint32_t kValue>
[[gnu::always_inline]] inline uintptr_t value() {
  uintptr_t v;
  __asm__("movabsq $0, %0" PF_NEAR_PLACE(8) : "=r"(v) : "i"(kValue));
  return v;
}
// A thread's variable; the value is its distance from where the thread has them.
template <uint32_t kValue, class T>
[[gnu::always_inline]] inline T* variable() {
  T* v;
  __asm__("movq %%fs:0, %0" PF_NEAR_PLACE(4) : "=r"(v) : "i"(kValue | Place::kShort));
  return v;
}

struct Code {
  struct Name {
    const char* name;  // of a function of the library, and which entry stands for it
    unsigned entry;
  };
  const Name* names;
  std::size_t name_count;
  const void* const* entries;  // as the library has them
  const uintptr_t* values;
};

// Once, when the program has one thread.
void install(const Code& code);

// The number of the entry that is at an address; kEntries if there is none.
unsigned entry_at(uintptr_t address);

}  // namespace pf::rt::near

namespace pf::rt {

// Of the detector that this library is for (abi/near.cpp).
void install_near_code();

}  // namespace pf::rt
