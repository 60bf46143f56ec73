// Races as the stages speak of them, before names are resolved: ids and numbers only.
#pragma once
#include <compare>

#include "core/event.h"

namespace pf {

enum class Verdict : uint8_t { Real, Potential, Predicted, Confirmed, Suspect };
inline constexpr std::string_view kVerdictNames[] = {"real", "potential", "predicted", "confirmed", "suspect"};
constexpr std::string_view name(Verdict v) { return kVerdictNames[static_cast<unsigned>(v)]; }

// What a report calls the operation of an access.
constexpr std::string_view access_name(Op op) {
  if (op == Op::Free) return "free";
  return writes(op) ? "write" : "read";
}

struct RaceAccess {
  ThreadId thread{};
  SiteId site = kNoSite;
  LocksetId locks = kNoLocks;
  Op op = Op::Read;
  uint32_t size = 0;
};

// The memory two accesses met at. `object` is what makes two races the same one: the variable, or the place that
// allocated the block.
struct RaceMemory {
  enum class Kind : uint8_t { Plain, Heap, Freed };
  Kind kind = Kind::Plain;
  uint64_t address = 0;
  uint64_t block = 0;  // heap and freed: start and size of the block, and who allocated or freed it where
  uint64_t block_size = 0;
  SiteId block_site = kNoSite;
  uint64_t object = 0;
};

// What makes two races the same one: the sites in either order, and the object.
struct RacePair {
  uint32_t low, high;
  uint64_t object;
  friend auto operator<=>(const RacePair&, const RacePair&) = default;
};

struct RaceRecord {
  RaceAccess first, second;  // in the order of the trace
  RaceMemory memory;
  Verdict verdict = Verdict::Real;
  uint64_t count = 1;  // dynamic occurrences

  RacePair pair() const {
    const uint32_t a = index(first.site), b = index(second.site);
    return {a < b ? a : b, a < b ? b : a, memory.object};
  }
};

// One step of a schedule that shows a predicted race.
struct WitnessStep {
  ThreadId thread{};
  SiteId site = kNoSite;
  uint64_t event = 0;  // its number in the trace, from 1
  Op op = Op::Read;
  uint64_t target = 0;
};

}  // namespace pf
