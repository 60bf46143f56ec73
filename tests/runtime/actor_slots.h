// The slots of actors in games without a runtime. All games have the same, or there would be more than marks have room for.
#pragma once
#include <array>

#include "runtime/slots.h"

namespace pf::rt {

inline Slot slot_of_actor(unsigned i) {
  static const std::array<Slot, 4> slots = [] {
    std::array<Slot, 4> all{};
    for (Slot& s : all) s = slots::fresh(ThreadId{0});
    return all;
  }();
  return slots.at(i);
}

}  // namespace pf::rt
