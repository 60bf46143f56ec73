// What every reordering that shows a pair must run: what Must puts before the two accesses, and the end of each critical section that
// collides with one around an access, or with one that does not end in the window. If an access itself is among them, no
// reordering shows the pair. Cost: a look at the locks of the window each time the set grows.
#pragma once
#include <optional>

#include "predict/cut.h"

namespace pf::predict {

class Needed {
 public:
  // `must` is the order of that name.
  Needed(const Model& model, const Order& must, const Cuts& cuts) : model_(model), must_(must), cuts_(cuts) {}

  // Nothing: no reordering shows a and b side by side.
  std::optional<Clock> by(Index a, Index b) const;

 private:
  bool close(const std::vector<ThreadSections>& lock, Thread a, Thread b, Clock& cut, bool& grown) const;

  const Model& model_;
  const Order& must_;
  const Cuts& cuts_;
};

}  // namespace pf::predict
