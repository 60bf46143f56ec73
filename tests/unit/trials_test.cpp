// Rates over trials: Wilson's interval against published values, and by simulation.
#include "report/trials.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cli/trials.h"
#include "core/random.h"
#include "offline/catalog.h"

namespace pf {
namespace {

using report::Trials;

TEST(Trials, have_wilsons_interval) {
  const auto expect = [](Trials t, double low, double high) {
    EXPECT_NEAR(t.low(), low, 5e-5) << t.found << " of " << t.runs;
    EXPECT_NEAR(t.high(), high, 5e-5) << t.found << " of " << t.runs;
  };
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  expect({263, 81}, 0.2553, 0.3662);
  expect({148, 15}, 0.0624, 0.1605);
  expect({20, 0}, 0.0000, 0.1611);
  expect({29, 1}, 0.0061, 0.1718);
  expect({0, 0}, 0, 1);
}

TEST(Trials, the_interval_covers_the_truth_in_about_95_of_100) {
  Random random(1);
  for (const double truth : {0.05, 0.3, 0.9}) {
    int covered = 0;
    for (int experiment = 0; experiment < 2000; ++experiment) {
      Trials t{50, 0};
      for (int run = 0; run < 50; ++run) t.found += random.chance(static_cast<uint64_t>(truth * 0x1p32)) ? 1 : 0;
      covered += t.low() <= truth && truth <= t.high() ? 1 : 0;
    }
    EXPECT_GT(covered, 0.92 * 2000) << truth;
    EXPECT_LT(covered, 0.985 * 2000) << truth;
  }
}

TEST(Trials, tell_how_many_more_runs_it_takes) {
  EXPECT_EQ((Trials{10, 10}.more_runs()), 1U);
  EXPECT_EQ((Trials{10, 0}.more_runs()), 0U);
  for (const double rate : {0.001, 0.01, 0.05, 0.5, 0.94, 0.96}) {
    const auto runs = static_cast<double>(Trials::runs_for(rate));
    EXPECT_GE(1 - std::pow(1 - rate, runs), 0.95) << rate;
    EXPECT_LT(1 - std::pow(1 - rate, runs - 1), 0.95) << rate;
  }
}

uint64_t trials_of(const std::string& chain) {
  return *cli::parse_trials("auto", *parse_chain(chain, offline_catalog()));
}

// min(max(ceil(log 0.05 / log(1 - r)), 50), 500)
TEST(Trials, are_chosen_by_the_sampling_rate) {
  EXPECT_EQ(trials_of("fasttrack"), 50U);
  EXPECT_EQ(trials_of("literace:fasttrack"), 50U);
  EXPECT_EQ(trials_of("carisma,rate=1%:fasttrack"), 299U);
  EXPECT_EQ(trials_of("carisma,rate=10%:pacer,rate=10%"), 299U);
  EXPECT_EQ(trials_of("pacer,rate=100%"), 50U);
  EXPECT_EQ(trials_of("pacer,rate=10%"), 50U);
  EXPECT_EQ(trials_of("pacer"), 99U);
  EXPECT_EQ(trials_of("pacer,rate=1%"), 299U);
  EXPECT_EQ(trials_of("pacer,rate=0.1%"), 500U);
  EXPECT_EQ(trials_of("pacer,rate=0"), 500U);
}

}  // namespace
}  // namespace pf
