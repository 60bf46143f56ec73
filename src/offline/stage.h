// What flows through an offline chain: batches of events in, races and numbers out at the end.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine_info.h"
#include "core/event.h"
#include "core/lockset.h"
#include "core/race.h"

namespace pf {

struct RuleCount {
  std::string_view rule;
  uint64_t count;
};

struct FoundRace {
  RaceRecord record;
  std::vector<HeldLock> first_locks, second_locks;
};

struct Findings {
  std::vector<FoundRace> races;  // in the order of their first occurrence
  std::vector<RuleCount> rules;
  uint64_t events = 0;         // that reached the detector
  uint64_t accesses = 0;       // of them
  uint64_t dynamic_races = 0;  // racing pairs, each time they occurred
  uint64_t racy_events = 0;    // accesses that raced with an earlier one
  uint64_t threads = 0;
  uint64_t bytes = 0;  // of the detector's state at the end
};

class DetectorStage {
 public:
  virtual ~DetectorStage() = default;
  virtual void process(std::span<const Event> batch) = 0;
  virtual Findings findings() const = 0;
};

}  // namespace pf
