// Edges between the events of a window, and the order closest to the trace's that they allow.
#pragma once
#include <span>
#include <vector>

#include "predict/replay.h"

namespace pf::predict {

class Graph {
 public:
  explicit Graph(Index events) : events_(events) {}
  void add(Index from, Index to, uint32_t cost = 0) { edges_.push_back({from, to, cost}); }  // cost: 0 or 1

  // Of the events that run (edges are among them), always the first of the trace that may come next. Shorter than all of them if the
  // edges have a cycle.
  Schedule linearize(const std::vector<bool>& runs) const;
  // Of the events that linearize() left, those that lead back to one of them: the cycles, and what is between them.
  std::vector<bool> cycles(const std::vector<bool>& stuck) const;
  // A way along the edges that costs least, both ends included; empty if there is none.
  std::vector<Index> way(Index from, Index to, const std::vector<bool>& through) const;

 private:
  struct Edge {
    Index from, to;
    uint32_t cost;
  };
  // Sorted by where they begin.
  std::span<const Edge> edges_from(Index i) const;

  struct Seen {
    uint32_t search = 0;
    Index came_from = kNone;
    uint32_t cost = 0;
  };

  Index events_;
  std::vector<Edge> edges_;
  mutable std::vector<Edge> sorted_;     // once they are asked for
  mutable std::vector<uint32_t> begin_;  // of each event's
  mutable std::vector<Seen> seen_;       // by event, in the last searches for a way
  mutable uint32_t search_ = 0;
};

}  // namespace pf::predict
