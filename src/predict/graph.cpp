#include "predict/graph.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

namespace pf::predict {

std::span<const Graph::Edge> Graph::edges_from(Index i) const {
  if (begin_.empty() || sorted_.size() != edges_.size()) {
    begin_.assign(events_ + 1, 0);
    for (const Edge& e : edges_) ++begin_[e.from + 1];
    for (Index at = 0; at < events_; ++at) begin_[at + 1] += begin_[at];
    sorted_.resize(edges_.size());
    std::vector<uint32_t> next = begin_;
    for (const Edge& e : edges_) sorted_[next[e.from]++] = e;
  }
  return std::span(sorted_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
}

Schedule Graph::linearize(const std::vector<bool>& runs) const {
  std::vector<uint32_t> waits_for(events_);
  for (const Edge& e : edges_) ++waits_for[e.to];
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
  for (Index i = 0; i < events_; ++i)
    if (runs[i] && waits_for[i] == 0) ready.push(i);
  Schedule schedule;
  while (!ready.empty()) {
    const Index i = ready.top();
    ready.pop();
    schedule.push_back(i);
    for (const Edge& e : edges_from(i))
      if (--waits_for[e.to] == 0) ready.push(e.to);
  }
  return schedule;
}

std::vector<Index> Graph::way(Index from, Index to, const std::vector<bool>& through) const {
  std::vector<Index> came_from(events_, kNone);
  std::vector<uint32_t> cost(events_, kNone);
  std::vector<bool> is_done(events_);
  std::deque<Index> open{from};  // cheapest first
  cost[from] = 0;
  while (!open.empty() && !is_done[to]) {
    const Index i = open.front();
    open.pop_front();
    if (is_done[i]) continue;
    is_done[i] = true;
    for (const Edge& e : edges_from(i)) {
      if (!through[e.to] || cost[e.to] <= cost[i] + e.cost) continue;
      cost[e.to] = cost[i] + e.cost;
      came_from[e.to] = i;
      e.cost == 0 ? open.push_front(e.to) : open.push_back(e.to);
    }
  }
  if (cost[to] == kNone) return {};
  std::vector<Index> way{to};
  while (way.back() != from) way.push_back(came_from[way.back()]);
  std::ranges::reverse(way);
  return way;
}

}  // namespace pf::predict
