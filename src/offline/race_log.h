// Races found so far: one record per unordered pair of sites and memory object, with the count of its occurrences.
#pragma once
#include <unordered_map>
#include <vector>

#include "offline/stage.h"

namespace pf {

class RaceLog {
 public:
  // True if it is the first of its kind: the caller then fills in what only a report needs.
  bool add(const RaceRecord& race);
  FoundRace& newest() { return races_.back(); }

  const std::vector<FoundRace>& races() const { return races_; }
  uint64_t dynamic_races() const { return dynamic_; }

 private:
  struct Key {
    uint32_t low, high;  // the two sites
    uint64_t object;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return ((static_cast<uint64_t>(k.low) << 32 | k.high) * 0x9E3779B97F4A7C15U) ^ (k.object * 0xD6E8FEB86659FD93U);
    }
  };

  std::vector<FoundRace> races_;
  std::unordered_map<Key, std::size_t, Hash> by_key_;
  uint64_t dynamic_ = 0;
};

}  // namespace pf
