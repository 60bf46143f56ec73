// Sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021): those that a reordering shows which keeps the order of the
// critical sections of each lock that it runs, and lets every read see its own write. Posts and notifies are kept, too.
// Guarantee: finds every pair that has such a reordering, and no other; the reordering is the trace's own order of
// the fewest events that both accesses need. Cost: for each pair, a few looks at the locks of the window.
#pragma once
#include <optional>

#include "predict/cut.h"
#include "predict/replay.h"

namespace pf::predict {

class SyncPreserving {
 public:
  // `kept` is the order of that name.
  SyncPreserving(const Model& model, const Order& kept, const Cuts& cuts) : model_(model), kept_(kept), cuts_(cuts) {}

  // The events that come before a and b, in order; nothing if there is no such reordering.
  std::optional<Schedule> find(Index a, Index b) const;

 private:
  bool close(const std::vector<ThreadSections>& uses, Clock& cut, bool& grown) const;

  const Model& model_;
  const Order& kept_;
  const Cuts& cuts_;
};

}  // namespace pf::predict
