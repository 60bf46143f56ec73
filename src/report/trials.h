// How often a race shows when the program is run again and again, and what that says about the next runs.
#pragma once
#include <cstdint>

namespace pf::report {

inline constexpr double kConfidence = 0.95;

struct Trials {
  uint64_t runs = 0, found = 0;

  // The estimated probability that a run finds it, with Wilson's interval of 95%.
  double rate() const { return runs == 0 ? 0 : static_cast<double>(found) / static_cast<double>(runs); }
  double low() const { return bound(-1); }
  double high() const { return bound(1); }
  // So many further runs find it (again) with a probability of 95%, at that rate; 0 if it was never found.
  uint64_t more_runs() const { return runs_for(rate()); }

  // So many runs find with a probability of 95% what one finds at the rate; 0 if none does.
  static uint64_t runs_for(double rate);
  // As PACER and CARISMA choose: that number, but at least 50 and at most 500.
  static uint64_t choose(double sampling_rate);

 private:
  double bound(int side) const;
};

}  // namespace pf::report
