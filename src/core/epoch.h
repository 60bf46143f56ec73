// One tick of one slot's clock, c@s, in one machine word. Clock 0 never happens, so the zero word means "never".
// The widths are the host's choice: the offline host takes 64 bits, a shadow cell in the target may take 32.
#pragma once
#include <compare>

#include "core/ids.h"

namespace pf {

template <class Raw, unsigned kBitsOfClock>
class BasicEpoch {
 public:
  using Clock = uint32_t;
  static constexpr unsigned kClockBits = kBitsOfClock;
  static_assert(kClockBits <= 32 && kClockBits < sizeof(Raw) * 8);
  static constexpr Clock kMaxClock = static_cast<Clock>((uint64_t{1} << kClockBits) - 1);
  static constexpr uint64_t kMaxSlots = uint64_t{1} << (sizeof(Raw) * 8 - kClockBits);

  constexpr BasicEpoch() = default;
  constexpr BasicEpoch(Slot s, Clock c) : raw_(static_cast<Raw>(Raw{index(s)} << kClockBits | c)) {}

  constexpr Slot slot() const { return Slot{static_cast<uint32_t>(raw_ >> kClockBits)}; }
  constexpr Clock clock() const { return static_cast<Clock>(raw_ & kMaxClock); }
  constexpr bool never() const { return raw_ == 0; }
  friend constexpr bool operator==(BasicEpoch, BasicEpoch) = default;
  friend constexpr auto operator<=>(BasicEpoch, BasicEpoch) = default;  // an order, but not of time

 private:
  Raw raw_ = 0;
};

using WideEpoch = BasicEpoch<uint64_t, 32>;

}  // namespace pf
