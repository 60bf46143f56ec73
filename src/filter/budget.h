// CARISMA's first phase: how large each context is, by what earlier trials sampled of it, and at which rate to sample it next
// so that all contexts get the same number of samples as far as they have them. Source: CARISMA (seed 002) §3.2.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pf {

// Over the trials so far. Sums, so trials may be added in any order; rates are in parts of 2^32.
struct ContextSums {
  uint64_t samples = 0;
  uint64_t rates = 0;

  bool has_size() const { return samples != 0 && rates != 0; }
  double size() const;  // (1): the estimate of how many there are in a trial
  friend bool operator==(const ContextSums&, const ContextSums&) = default;
};

// (4): the level at which the contexts, each filled up to it but with no less than min_rate and no more than all of its size,
// take the budget together. 0 if the least of each takes more.
double water_level(std::span<const double> sizes, double budget, double min_rate);

// (5) for each context. Those without a sample get the target rate.
std::vector<double> context_rates(std::span<const ContextSums> contexts, double target, double min_rate);

}  // namespace pf
