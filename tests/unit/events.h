// Random events for the property tests of the trace room: every operation, with only the fields that it has.
#pragma once
#include <rapidcheck.h>

#include <algorithm>
#include <ostream>

#include "core/object.h"

namespace pf {

inline std::ostream& operator<<(std::ostream& out, const Event& e) {
  return out << name(e.op) << " thread " << index(e.thread) << " target " << e.target << " size " << e.size << " value "
             << e.value << (e.has_value ? "" : " (none)") << " order " << name(e.order) << " site " << index(e.site);
}

// Addresses, variables and their parts, named ones, and the ends of the range.
inline rc::Gen<uint64_t> any_target() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::arbitrary<uint64_t>()),
                      [](auto choice) -> uint64_t {
                        const auto [way, n] = choice;
                        switch (way) {
                          case 0: return n % 64;
                          case 1: return std::min(n, kLastAddress);
                          case 2: return kLastAddress - n % 64;
                          case 3: return kAbstract + n % 64;
                          case 4: return named_variable(0) + n % 64;
                          default: return uint64_t{0x7f0000000000} + n % 4096;
                        }
                      });
}

// Of the threads [0, threads) at the sites [0, sites).
inline rc::Gen<Event> any_event(uint32_t threads, uint32_t sites) {
  return rc::gen::exec([=] {
    Event e;
    e.op = static_cast<Op>(*rc::gen::inRange(0U, kOps));
    e.thread = ThreadId{*rc::gen::inRange(0U, threads)};
    e.site = SiteId{*rc::gen::inRange(0U, sites)};
    if (e.op == Op::Fork || e.op == Op::Join) {
      e.target = *rc::gen::inRange(0U, threads);
    } else if (has_operand(e.op)) {
      e.target = *any_target();
    }
    if (is_access(e.op)) {
      e.size = *rc::gen::oneOf(rc::gen::element(1U, 2U, 4U, kVariableSize, 16U, kMaxAccessSize),
                               rc::gen::inRange(1U, kMaxAccessSize + 1));
      e.has_value = *rc::gen::arbitrary<bool>();
    }
    if (e.has_value || has_extent(e.op)) e.value = *rc::gen::arbitrary<uint64_t>();
    if (has_order(e.op)) e.order = static_cast<MemoryOrder>(*rc::gen::inRange(0U, kMemoryOrders));
    return e;
  });
}

}  // namespace pf
