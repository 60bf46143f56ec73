// CARISMA's law of one context, for traces (carisma.h) and inside programs (runtime/carisma.h): how its locations are drawn, which of their
// accesses are sampled, and what of a block is a context of its own. Rates are in parts of 2^32.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/periods.h"

namespace pf {

enum class CarismaStrategy : uint8_t { Cls, Fls, Aas };

// How a context is sampled in this trial.
struct ContextPlan {
  static constexpr uint64_t kBurst = 10;  // Smpl0

  uint64_t location_rate = 0;
  uint64_t pause = 0;  // Skip0: writes of a location that are skipped before each burst
  uint64_t rate = 0;   // of what is counted: locations, or writes to them

  uint64_t cycle() const { return pause + kBurst; }
  bool in_burst(uint64_t phase) const { return phase >= pause; }
};

constexpr uint64_t nearest_whole(double x) {
  const auto below = static_cast<uint64_t>(x);
  return x - static_cast<double>(below) < 0.5 ? below : below + 1;
}

struct CarismaLaw {
  CarismaStrategy strategy = CarismaStrategy::Aas;
  uint64_t rate = known_rate("1%");
  uint64_t min = known_rate("0.001%");

  bool counts_writes() const { return strategy != CarismaStrategy::Cls; }

  // For a context that is to have this rate. Only `aas` goes below the least rate of locations: in bursts.
  ContextPlan plan(uint64_t exact, uint64_t longest_pause = ~uint64_t{0}) const {
    if (strategy != CarismaStrategy::Aas || exact >= min || exact == 0) return {exact, 0, exact};
    const auto least = static_cast<double>(min), wanted = static_cast<double>(exact);
    constexpr auto kBurst = static_cast<double>(ContextPlan::kBurst);
    const uint64_t pause = std::min(nearest_whole(kBurst * (least / wanted - 1)), longest_pause);
    const double share = kBurst / (kBurst + static_cast<double>(pause));
    return {min, pause, nearest_whole(least * share)};
  }
};

// The data type of what lies in a block of that size: a large block is an array, whose elements are one type; of a small one
// each offset is a type of its own.
constexpr uint64_t data_type(uint64_t size, uint64_t offset) {
  constexpr uint64_t kLargestStruct = 256;
  if (size > kLargestStruct) return uint64_t{1} << 32 | static_cast<uint64_t>(std::bit_width(size));
  return size << 16 | offset;
}

}  // namespace pf
