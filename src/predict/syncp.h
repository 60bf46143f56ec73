// Sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021): those that a reordering shows which keeps the order of the
// critical sections of each lock that it runs, and lets every read see its own write. Posts and notifies are kept, too.
// Guarantee: finds every pair that has such a reordering, and no other; the reordering is the trace's own order of
// the fewest events that both accesses need. Cost: for each pair, a few looks at the locks of the window.
#pragma once
#include <optional>

#include "predict/order.h"
#include "predict/replay.h"

namespace pf::predict {

class SyncPreserving {
 public:
  // `kept` is the order of that name.
  SyncPreserving(const Model& model, const Order& kept);

  // The events that come before a and b, in order; nothing if there is no such reordering.
  std::optional<Schedule> find(Index a, Index b) const;

 private:
  // The sections of one lock and thread, in order.
  struct Use {
    Thread thread;
    std::vector<Section> writing, holding;
  };
  const Section* last_begun(const std::vector<Section>& sections, const Clock& cut) const;
  bool is_open(const Section& s, const Clock& cut) const;
  bool close(const std::vector<Use>& uses, Clock& cut, bool& grown) const;
  bool includes(const Clock& cut, Index i) const { return cut[model_.thread(i)] > model_.position(i); }

  const Model& model_;
  const Order& kept_;
  std::vector<std::vector<Use>> locks_;
};

}  // namespace pf::predict
