// A filter: passes on the events that the stages behind it need. Synchronization always passes.
#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/event.h"

namespace pf {

struct FilterStats {
  uint64_t events = 0, dropped = 0;
  uint64_t bytes = 0, peak_bytes = 0;  // of its state, about: now, and when it was largest
  std::vector<uint64_t> rules;         // how often each of its EngineInfo::rules fired
};

class FilterStage {
 public:
  virtual ~FilterStage() = default;
  // The events of the batch that go on, in order. Valid until the next call.
  virtual std::span<const Event> pass(std::span<const Event> batch) = 0;
  virtual FilterStats stats() const = 0;
};

}  // namespace pf
