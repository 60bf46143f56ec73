// A filter: passes on the events that the stages behind it need. Synchronization always passes.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/event.h"
#include "core/periods.h"
#include "core/result.h"

namespace pf {

struct FilterStats {
  uint64_t events = 0, dropped = 0;
  uint64_t bytes = 0, peak_bytes = 0;  // of its state, about: now, and when it was largest
  std::vector<uint64_t> rules;         // how often each of its EngineInfo::rules fired
  std::optional<SamplingCounts> sampling = {};
};

// Names that are the same in every trace of a program, as numbers: for filters that remember from one run to the next.
class StableNames {
 public:
  virtual ~StableNames() = default;
  virtual uint64_t site(SiteId site) const = 0;
  virtual uint64_t variable(uint64_t address) const = 0;
};

// Of one trace by itself: the numbers that things have in it.
class PlainNames final : public StableNames {
 public:
  uint64_t site(SiteId site) const override { return index(site); }
  uint64_t variable(uint64_t address) const override { return address; }
};
inline const PlainNames kPlainNames;

class FilterStage {
 public:
  virtual ~FilterStage() = default;
  // Before the first event. The names are there until the last one.
  virtual Status start(const StableNames& /*names*/) { return Done{}; }
  // After the last event of the trace: keeps what is to be kept for the next run.
  virtual Status finish() { return Done{}; }
  // The events of the batch that go on, in order. Valid until the next call.
  virtual std::span<const Event> pass(std::span<const Event> batch) = 0;
  virtual FilterStats stats() const = 0;
};

}  // namespace pf
