// What is left of a plain access that turns out to be new: the hot entry points end with a jump to one of these, and so need no
// register for the place where the program called them, which still is their return address. (Built with sibling calls, on which
// this rests; check_library.py sees to it.)
#pragma once
#include "runtime/abi/abi.h"
#include "runtime/this_detector.h"

namespace pf::rt {

// A host that can tell at once whether an access is nothing new.
template <class H>
concept HasHotPath =
    requires(uintptr_t address, uintptr_t pc) { H::template is_known<Op::Read, 8, typename H::Here>(address, pc); };

template <Op kOp, unsigned kSize, class H = Host>
[[gnu::noinline]] void access_unknown(void* p) {
  H::template access_unknown<kOp, kSize>(address_of(p), PF_CALLER_PC);
}

// To be the last that an entry point does.
template <Op kOp, unsigned kSize, class H = Host>
[[gnu::always_inline]] inline void access_here(void* p, uintptr_t pc) {
  if constexpr (HasHotPath<H>) {
    if (H::template is_known<kOp, kSize, typename H::Here>(address_of(p), pc)) [[likely]]
      return;
    access_unknown<kOp, kSize>(p);
  } else {
    H::template access<kOp, kSize>(address_of(p), pc);
  }
}

}  // namespace pf::rt
