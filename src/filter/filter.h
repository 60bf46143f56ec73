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

// The way of every filter through a batch: reads and writes go on if `passes` says so, the rest is followed and goes on.
template <class Passes, class Follow>
std::span<const Event> pass_accesses(std::span<const Event> batch, std::vector<Event>& kept, Passes passes,
                                     Follow follow) {
  kept.clear();
  for (const Event& e : batch) {
    if (e.op <= Op::Write) {
      if (!passes(e)) continue;
    } else {
      follow(e);
    }
    kept.push_back(e);
  }
  return kept;
}

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
