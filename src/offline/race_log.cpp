#include "offline/race_log.h"

namespace pf {

FoundRace* RaceLog::add(const RaceRecord& race) {
  ++dynamic_;
  const auto [it, fresh] = by_pair_.try_emplace(race.pair(), races_.size());
  if (fresh) return &races_.emplace_back(FoundRace{.record = race});
  FoundRace& known = races_[it->second];
  const uint64_t count = ++known.record.count;
  if (race.verdict != Verdict::Real || known.record.verdict == Verdict::Real) return nullptr;
  known = {.record = race};  // one real occurrence makes it real
  known.record.count = count;
  return &known;
}

}  // namespace pf
