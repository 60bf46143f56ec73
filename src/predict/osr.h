// Optimistic sync-reversal races (after Shi, Mathur, Pavlogiannis, OOPSLA 2024): those that a reordering shows in which the critical
// sections around the two accesses come last of their locks, wherever they came in the trace; all else keeps its order.
//
//   what runs        the fewest events with: what Kept puts before the two accesses and before each other; the end of each
//                    section that collides with another one that runs, unless it is around one of the two accesses
//   in which order   conflicting accesses keep the order of the trace, and so do operations on one condition, semaphore or
//                    barrier, and the sections of a lock that end; those that do not end come after them
//
// Guarantee: finds a pair if and only if these fewest events can be put in such an order. Cost: for each pair a look at the
// locks of the window each time the set grows, and then one pass over the events that run.
#pragma once
#include <optional>

#include "predict/cut.h"
#include "predict/graph.h"

namespace pf::predict {

class SyncReversal {
 public:
  // `kept` is the order of that name.
  SyncReversal(const Model& model, const Order& kept, const Cuts& cuts);

  // The events that come before a and b, in order; nothing if there is no such reordering.
  std::optional<Schedule> find(Index a, Index b) const;

 private:
  std::optional<Clock> events_that_run(Index a, Index b) const;
  bool close(const std::vector<ThreadSections>& lock, Thread a, Thread b, Clock& cut, bool& grown) const;
  void order_events(const Clock& cut, Graph& graph) const;
  bool order_sections(const LockUse& use, const Clock& cut, Graph& graph) const;

  const Model& model_;
  const Order& kept_;
  const Cuts& cuts_;
  std::vector<std::vector<Index>> direct_;  // of each event: what Kept puts right before it, in other threads
};

}  // namespace pf::predict
