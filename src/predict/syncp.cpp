#include "predict/syncp.h"

#include <algorithm>

namespace pf::predict {

SyncPreserving::SyncPreserving(const Model& model, const Order& kept) : model_(model), kept_(kept) {
  for (const auto& [lock, sections] : model.locks()) {
    std::map<Thread, Use> uses;
    for (const Section& s : sections.writing) uses[s.thread].writing.push_back(s);
    for (const Section& s : sections.holding) uses[s.thread].holding.push_back(s);
    std::vector<Use>& all = locks_.emplace_back();
    for (auto& [thread, use] : uses) all.push_back({thread, std::move(use.writing), std::move(use.holding)});
  }
}

const Section* SyncPreserving::last_begun(const std::vector<Section>& sections, const Clock& cut) const {
  const auto has_begun = [&](const Section& s) { return s.begin == kNone || includes(cut, s.begin); };
  const auto after = std::partition_point(sections.begin(), sections.end(), has_begun);
  return after == sections.begin() ? nullptr : &*std::prev(after);
}

bool SyncPreserving::is_open(const Section& s, const Clock& cut) const {
  return s.end == kNone || !includes(cut, s.end);
}

// Of two sections that collide, the one that came first in the trace has ended. False: it never does.
bool SyncPreserving::close(const std::vector<Use>& uses, Clock& cut, bool& grown) const {
  const auto begins_before = [](const Section& x, const Section& y) {
    return x.begin == kNone || (y.begin != kNone && x.begin < y.begin);
  };
  const auto close_before = [&](const Section* open, const Section* later) {
    if (open == nullptr || later == nullptr || !is_open(*open, cut) || !begins_before(*open, *later)) return true;
    if (open->end == kNone) return false;
    join(cut, kept_.up_to(open->end));
    return grown = true;
  };
  for (const Use& first : uses)
    for (const Use& second : uses) {
      if (first.thread == second.thread) continue;
      if (!close_before(last_begun(first.writing, cut), last_begun(second.holding, cut))) return false;
      if (!close_before(last_begun(first.holding, cut), last_begun(second.writing, cut))) return false;
    }
  return true;
}

std::optional<Schedule> SyncPreserving::find(Index a, Index b) const {
  Clock cut(kept_.enabling(a).begin(), kept_.enabling(a).end());
  join(cut, kept_.enabling(b));
  for (bool grown = true; grown;) {
    if (includes(cut, a) || includes(cut, b)) return {};
    grown = false;
    for (const auto& uses : locks_)
      if (!close(uses, cut, grown)) return {};
  }
  Schedule schedule;
  for (Index i = 0; i < model_.size(); ++i)
    if (includes(cut, i)) schedule.push_back(i);
  return schedule;
}

}  // namespace pf::predict
