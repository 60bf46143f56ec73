#include "predict/syncp.h"

namespace pf::predict {

// Of two sections that collide, the one that came first in the trace has ended. False: it never does.
bool SyncPreserving::close(const std::vector<ThreadSections>& uses, Clock& cut, bool& grown) const {
  const auto begins_before = [](const Section& x, const Section& y) {
    return x.begin == kNone || (y.begin != kNone && x.begin < y.begin);
  };
  const auto close_before = [&](const Section* open, const Section* later) {
    if (open == nullptr || later == nullptr || !cuts_.is_open(*open, cut) || !begins_before(*open, *later)) return true;
    if (open->end == kNone) return false;
    join(cut, kept_.up_to(open->end));
    return grown = true;
  };
  for (const ThreadSections& first : uses)
    for (const ThreadSections& second : uses) {
      if (first.thread == second.thread) continue;
      if (!close_before(cuts_.last_begun(first.writing, cut), cuts_.last_begun(second.holding, cut))) return false;
      if (!close_before(cuts_.last_begun(first.holding, cut), cuts_.last_begun(second.writing, cut))) return false;
    }
  return true;
}

std::optional<Schedule> SyncPreserving::find(Index a, Index b) const {
  const std::optional<Clock> cut =
      cuts_.grown_before(a, b, kept_, [&](const auto& uses, Clock& c, bool& grown) { return close(uses, c, grown); });
  if (!cut) return {};
  Schedule schedule;
  for (Index i = 0; i < model_.size(); ++i)
    if (cuts_.includes(*cut, i)) schedule.push_back(i);
  return schedule;
}

}  // namespace pf::predict
