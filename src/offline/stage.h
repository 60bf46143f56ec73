// What flows through an offline chain: batches of events in, races and numbers out at the end.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine_info.h"
#include "core/epoch.h"
#include "core/event.h"
#include "core/lockset.h"
#include "core/periods.h"
#include "core/race.h"

namespace pf {

struct RuleCount {
  std::string_view rule;
  uint64_t count;
};

struct LockStep {
  ThreadId thread{};
  SiteId site = kNoSite;
  LockMode mode = LockMode::Write;
  uint64_t event = 0;  // its number in the trace, from 1
};

// Why a potential race did not show in this run: the lock whose release and acquire ordered the two accesses.
struct HiddenBy {
  uint64_t lock = 0;
  LockStep release, acquire;
};

struct FoundRace {
  RaceRecord record;
  std::vector<HeldLock> first_locks{}, second_locks{};
  WideEpoch
      first_epoch{};  // potential, if nothing but locks orders the pair: of the first access, in full happens-before
  std::optional<HiddenBy> hidden_by{};  // the same, once explain.h has looked
  std::vector<WitnessStep> witness{};   // predicted: a schedule that ends with the two accesses side by side
  std::string_view found_by{};          // the same: which way of looking for it found the schedule
  std::optional<uint64_t> window{};     // of a shard: in which window, for merging
};

struct Findings {
  std::vector<FoundRace> races;  // in the order of their first occurrence
  std::vector<RuleCount> rules;
  uint64_t events = 0;         // that reached the detector
  uint64_t accesses = 0;       // of them
  uint64_t dynamic_races = 0;  // racing pairs, each time they occurred
  uint64_t racy_events = 0;    // accesses that raced with an earlier one
  uint64_t threads = 0;
  uint64_t bytes = 0;       // of the detector's state at the end
  uint64_t peak_bytes = 0;  // and when it was largest
  std::optional<SamplingCounts> sampling = {};
  std::optional<uint64_t> by_library = {};  // pairs that only calls without instrumentation may have ordered
  double processor_seconds = 0;             // on threads of its own
  std::optional<uint64_t> unknown = {};     // of a predictor: pairs that it could not decide
  std::vector<RuleCount> found_by = {};     // of a predictor: how many races each way of looking found
};

class DetectorStage {
 public:
  virtual ~DetectorStage() = default;
  virtual void process(std::span<const Event> batch) = 0;
  virtual Findings findings() const = 0;
};

}  // namespace pf
