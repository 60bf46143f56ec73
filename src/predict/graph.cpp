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

std::vector<bool> Graph::cycles(const std::vector<bool>& stuck) const {
  std::vector<bool> left = stuck;
  std::vector<uint32_t> leads_to(events_);
  std::vector<std::vector<Index>> before(events_);
  for (const Edge& e : edges_) {
    if (!left[e.from] || !left[e.to]) continue;
    ++leads_to[e.from];
    before[e.to].push_back(e.from);
  }
  std::vector<Index> open;
  for (Index i = 0; i < events_; ++i)
    if (left[i] && leads_to[i] == 0) open.push_back(i);
  while (!open.empty()) {
    const Index i = open.back();
    open.pop_back();
    left[i] = false;
    for (const Index b : before[i])
      if (--leads_to[b] == 0) open.push_back(b);
  }
  return left;
}

std::vector<Index> Graph::way(Index from, Index to, const std::vector<bool>& through) const {
  if (seen_.empty()) seen_.resize(events_);
  ++search_;
  std::deque<std::pair<Index, uint32_t>> open{{from, 0}};  // cheapest first
  seen_[from] = {search_, kNone, 0};
  while (!open.empty() && open.front().first != to) {
    const auto [i, cost] = open.front();
    open.pop_front();
    if (seen_[i].cost < cost) continue;
    for (const Edge& e : edges_from(i)) {
      Seen& s = seen_[e.to];
      if (!through[e.to] || (s.search == search_ && s.cost <= cost + e.cost)) continue;
      s = {search_, i, cost + e.cost};
      e.cost == 0 ? open.emplace_front(e.to, cost) : open.emplace_back(e.to, cost + e.cost);
    }
  }
  if (seen_[to].search != search_) return {};
  std::vector<Index> way{to};
  while (way.back() != from) way.push_back(seen_[way.back()].came_from);
  std::ranges::reverse(way);
  return way;
}

}  // namespace pf::predict
