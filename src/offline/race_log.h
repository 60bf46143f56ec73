// Races found so far: one record per unordered pair of sites and memory object, with the count of its occurrences.
#pragma once
#include <unordered_map>
#include <vector>

#include "offline/stage.h"

namespace pf {

class RaceLog {
 public:
  // The race whose report this occurrence is, for the caller to fill in what only a report needs; none if an earlier one
  // stays it. The first occurrence is, until a real one takes its place.
  FoundRace* add(const RaceRecord& race);

  const std::vector<FoundRace>& races() const { return races_; }
  std::vector<FoundRace> take_races() { return std::move(races_); }  // at the end
  uint64_t dynamic_races() const { return dynamic_; }

 private:
  struct Hash {
    std::size_t operator()(const RacePair& k) const {
      return ((static_cast<uint64_t>(k.low) << 32 | k.high) * 0x9E3779B97F4A7C15U) ^ (k.object * 0xD6E8FEB86659FD93U);
    }
  };

  std::vector<FoundRace> races_;
  std::unordered_map<RacePair, std::size_t, Hash> by_pair_;
  uint64_t dynamic_ = 0;
};

}  // namespace pf
