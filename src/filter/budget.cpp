#include "filter/budget.h"

#include <algorithm>
#include <numeric>

namespace pf {

double ContextSums::size() const {
  return has_size() ? static_cast<double>(samples) * 0x1p32 / static_cast<double>(rates) : 0;
}

// The sum over the contexts grows with the level, by pieces of straight lines that bend where a context begins to fill and where it is full.
double water_level(std::span<const double> sizes, double budget, double min_rate) {
  struct Bend {
    double level;
    int slope;  // how it changes
  };
  std::vector<Bend> bends;
  double filled = 0;
  for (const double size : sizes) {
    filled += min_rate * size;
    bends.push_back({min_rate * size, 1});
    bends.push_back({size, -1});
  }
  if (filled >= budget) return 0;
  std::ranges::sort(bends, {}, &Bend::level);
  double level = 0;
  int slope = 0;
  for (const Bend& bend : bends) {
    const double gain = slope * (bend.level - level);
    if (gain > 0 && filled + gain >= budget) return level + (budget - filled) / slope;
    filled += gain;
    level = bend.level;
    slope += bend.slope;
  }
  return level;
}

std::vector<double> context_rates(std::span<const ContextSums> contexts, double target, double min_rate) {
  std::vector<double> sizes;
  for (const ContextSums& c : contexts) {
    if (c.has_size()) sizes.push_back(c.size());
  }
  const double budget = target * std::accumulate(sizes.begin(), sizes.end(), 0.0);
  const double level = water_level(sizes, budget, min_rate);
  std::vector<double> rates;
  for (const ContextSums& c : contexts) {
    rates.push_back(!c.has_size() ? target : std::clamp(level / c.size(), min_rate, 1.0));
  }
  return rates;
}

}  // namespace pf
