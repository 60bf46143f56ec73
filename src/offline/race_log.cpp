#include "offline/race_log.h"

#include <algorithm>

namespace pf {

bool RaceLog::add(const RaceRecord& race) {
  ++dynamic_;
  const auto [low, high] = std::minmax({index(race.first.site), index(race.second.site)});
  const auto [it, fresh] = by_key_.try_emplace(Key{low, high, race.memory.object}, races_.size());
  if (fresh) {
    races_.push_back({race, {}, {}});
  } else {
    RaceRecord& known = races_[it->second].record;
    ++known.count;
    if (race.verdict == Verdict::Real) known.verdict = Verdict::Real;  // one real occurrence makes it real
  }
  return fresh;
}

}  // namespace pf
