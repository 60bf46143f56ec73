#include "report/trials.h"

#include <algorithm>
#include <cmath>

namespace pf::report {

// Wilson's score interval: unlike the usual one it is right for rates near 0 and 1 and for few runs.
double Trials::bound(int side) const {
  if (found == 0 && side < 0) return 0;  // exactly, not up to rounding
  if (found == runs && side > 0) return 1;
  constexpr double kDeviations = 1.959963984540054;  // of the normal distribution: 95% lie within
  const auto n = static_cast<double>(runs);
  const double p = rate(), z2 = kDeviations * kDeviations;
  const double middle = p + z2 / (2 * n);
  const double half = kDeviations * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return (middle + side * half) / (1 + z2 / n);
}

uint64_t Trials::runs_for(double rate) {
  if (rate <= 0) return 0;
  if (rate >= 1) return 1;
  return static_cast<uint64_t>(std::ceil(std::log(1 - kConfidence) / std::log1p(-rate)));
}

uint64_t Trials::choose(double sampling_rate) {
  constexpr uint64_t kFewest = 50, kMost = 500;
  const uint64_t runs = runs_for(sampling_rate);
  return runs == 0 ? kMost : std::clamp(runs, kFewest, kMost);
}

}  // namespace pf::report
