// Random numbers that are the same everywhere for the same seed: SplitMix64. Not thread-safe.
#pragma once
#include <cstdint>

namespace pf {

class Random {
 public:
  explicit constexpr Random(uint64_t seed)
      : state_(mixed(seed + 1)) {}  // seeds are neighbours, their sequences are not

  constexpr uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    return mixed(state_);
  }
  // With a probability in parts of 2^32.
  constexpr bool chance(uint64_t parts) { return next() >> 32 < parts; }
  // From 0 to n - 1, about evenly: n is far from 2^64.
  constexpr uint64_t below(uint64_t n) { return next() % n; }

 private:
  static constexpr uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
  }

  uint64_t state_;
};

}  // namespace pf
