// The reference that every detector is tested against: docs/happens-before.md transcribed rule by rule, with a graph
// and exhaustive search instead of clocks. Slow and obviously right; shares no code with the detectors.
// Traces must be well-formed (trace/check.h). An event is named by its index in the trace.
#pragma once
#include <compare>
#include <cstddef>
#include <optional>
#include <ostream>
#include <span>
#include <vector>

#include "core/event.h"

namespace pf::oracle {

enum class Relation { Hb, WeakHb, Shb };

struct Race {
  size_t first, second;
  friend auto operator<=>(const Race&, const Race&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Race& race) {
    return out << race.first << "-" << race.second;
  }
};

// The transitive closure of the relation's edges.
class Order {
 public:
  Order(std::span<const Event> trace, Relation relation);
  // A path of edges leads from a to b.
  bool before(size_t a, size_t b) const { return before_[b][a]; }
  // The same without the edges that b has only for the value it reads: the order as it stands when b is next.
  // Differs from before() in SHB only.
  bool before_reading(size_t a, size_t b) const { return before_reading_[b][a]; }

 private:
  std::vector<std::vector<bool>> before_, before_reading_;
};

// All pairs of conflicting accesses, ordered or not; sorted by the second event, then by the first.
std::vector<Race> conflicts(std::span<const Event> trace);

// All conflicting pairs that the relation does not order; sorted as above, so the front is the first race.
// For SHB a pair is a race also if only the value that `second` reads orders it after `first`.
std::vector<Race> races(std::span<const Event> trace, Relation relation);

struct Held {
  uint64_t lock;
  bool for_writing;
  friend auto operator<=>(const Held&, const Held&) = default;
};
// For each event, the locks that its thread holds just before it; sorted by lock.
std::vector<std::vector<Held>> locks_held(std::span<const Event> trace);

// All predictable races, sorted as above; nothing if more than max_states states would have to be visited.
std::optional<std::vector<Race>> predictable_races(std::span<const Event> trace, size_t max_states);

}  // namespace pf::oracle
