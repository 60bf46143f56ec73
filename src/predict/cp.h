// Causally-precedes (Smaragdakis et al., POPL 2012; seed 004 §5.2), within a window: happens-before whose lock edges count only
// between critical sections that conflict, or that are themselves causally ordered.
//   (a) release → acquire, of colliding sections of one lock that have conflicting accesses
//   (b) release → acquire, of colliding sections if an event of the one is before an event of the other by CP
//   (c) CP followed or preceded by happens-before is CP
// Beside locks, the edges of weak happens-before count as they are. The relation alone proves only the first race of a trace:
// pairs that it leaves unordered are candidates, for a witness to be found. Cost: passes over the window until none adds an edge.
#pragma once
#include <memory>

#include "predict/order.h"

namespace pf::predict {

class CausallyPrecedes {
 public:
  CausallyPrecedes(const Model& model, const Order& hb, bool heed_missing);
  bool before(Index a, Index b) const { return order_->before(a, b); }

 private:
  // The sections of one lock in one way, by thread and in order.
  using Sections = std::map<Thread, std::vector<Section>>;
  void add_conflicting(const std::vector<Section>& firsts, const std::vector<Section>& seconds);
  bool add_ordered(const Sections& firsts, const std::vector<Section>& seconds);
  bool add_edge(Index release, Index acquire);
  std::vector<Index> accesses(const Section& s) const;
  Index last_event(const Section& s) const;

  const Model& model_;
  LockEdges edges_;
  std::unique_ptr<Order> order_;
};

}  // namespace pf::predict
