// The page through which a running program takes a new sampling rate: a file in its run directory, mapped by every process
// of the run and written by `photofinish ctl`.
#pragma once
#include <cstdint>

namespace pf {

inline constexpr char kControlFile[] = "control";

struct Control {
  static constexpr uint64_t kUnset = 0;
  uint64_t rate = kUnset;  // in parts of 2^32, plus one

  static constexpr uint64_t of(uint64_t rate) { return rate + 1; }
  static constexpr uint64_t rate_of(uint64_t word) { return word - 1; }
};

}  // namespace pf
