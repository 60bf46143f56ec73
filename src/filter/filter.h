// A filter: passes on the events that the stages behind it need. Synchronization always passes.
#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/event.h"

namespace pf {

class FilterStage {
 public:
  virtual ~FilterStage() = default;
  // The events of the batch that go on, in order. Valid until the next call.
  virtual std::span<const Event> pass(std::span<const Event> batch) = 0;
  virtual uint64_t dropped() const = 0;
  virtual uint64_t bytes() const = 0;       // of its state, about
  virtual uint64_t peak_bytes() const = 0;  // the same when it was largest
};

}  // namespace pf
