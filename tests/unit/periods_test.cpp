// Work that is told in parts, ahead or late, leaves periods where they are; and by default they grow, and keep the rate (core/periods.h).
#include "core/periods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace pf {
namespace {

constexpr uint64_t kLength = 100, kSeed = 7;
constexpr uint64_t kRate = known_rate("5%");

// After how much work sampling began or ended, told `part` at a time; asked before each part how much is ahead, or not.
std::vector<uint64_t> changes(uint64_t part, bool asks) {
  Periods periods(kRate, kLength, kSeed);
  std::vector<uint64_t> at;
  for (uint64_t done = 0; done < 1000 * kLength;) {
    if (asks) periods.work_ahead();
    done += part;
    if (periods.work(part)) at.push_back(done);
  }
  return at;
}

TEST(Periods, AskingForTheWorkAheadChangesNoDraw) {
  const std::vector<uint64_t> without = changes(1, false);
  EXPECT_GT(without.size(), 20U);
  EXPECT_EQ(changes(1, true), without);
  EXPECT_EQ(changes(kLength, true), without);
}

TEST(Periods, NothingBeginsBeforeTheWorkAheadIsDone) {
  Periods periods(kRate, kLength, kSeed);
  unsigned begun = 0;
  while (begun < 50) {
    while (periods.sampling()) periods.work(1);
    uint64_t left = periods.work_ahead();
    ASSERT_GE(left, 1U);
    bool is_begun = false;
    for (; left > 1; --left) ASSERT_FALSE(periods.work(1));
    is_begun = periods.work(1);
    begun += is_begun ? 1 : 0;
    ASSERT_TRUE(is_begun || !periods.sampling());  // so far nobody had drawn
  }
}

TEST(Periods, WorkAheadIsOfTheRateAtTheTime) {
  Periods periods(0, kLength, kSeed);
  EXPECT_GT(periods.work_ahead(), kLength);
  periods.set_rate(Periods::kAlways);
  EXPECT_EQ(periods.work_ahead(), kLength);
  EXPECT_TRUE(periods.work(kLength));
}

TEST(Periods, LateWorkIsCountedAndBringsNoPeriodNearer) {
  Periods periods(Periods::kAlways, kLength, kSeed);
  ASSERT_TRUE(periods.sampling());
  periods.set_rate(0);
  periods.work(kLength - 1);
  periods.late_work(10 * kLength, true);
  periods.late_work(5, false);
  EXPECT_TRUE(periods.sampling());
  EXPECT_EQ(periods.done(), kLength - 1 + 10 * kLength + 5);
  EXPECT_EQ(periods.sampled(), kLength - 1 + 10 * kLength);
  EXPECT_TRUE(periods.work(1));
  EXPECT_FALSE(periods.sampling());
}

// Calls f(done before it, its length) for each period of all this work.
template <class F>
Periods go_through(uint64_t length, uint64_t seed, uint64_t work, F f) {
  Periods periods(kRate, length, seed);
  for (uint64_t done = 0; done < work; done = periods.done()) {
    f(done, periods.length());
    periods.work(periods.length());
  }
  return periods;
}

TEST(Periods, GrowWithTheWorkUpToALimitUnlessTheirLengthIsSaid) {
  uint64_t before = Periods::kFirst;
  const uint64_t all = 2 * Periods::kLongest * Periods::kShare;
  const Periods periods = go_through(0, kSeed, all, [&](uint64_t done, uint64_t length) {
    ASSERT_GE(length, before);
    ASSERT_LE(length, std::max(Periods::kFirst, done / Periods::kShare));
    before = length;
  });
  EXPECT_EQ(periods.length(), Periods::kLongest);
  go_through(kLength, kSeed, 1000 * kLength, [](uint64_t, uint64_t length) { ASSERT_EQ(length, kLength); });
}

TEST(Periods, GrowWhateverIsDrawn) {
  std::vector<uint64_t> lengths[2];
  for (uint64_t i = 0; i < 2; ++i) {
    go_through(0, kSeed + i, 20'000'000, [&](uint64_t, uint64_t length) { lengths[i].push_back(length); });
  }
  EXPECT_EQ(lengths[0], lengths[1]);
}

TEST(Periods, KeepTheirRateWhileTheyGrow) {
  constexpr int kRuns = 200;
  double all = 0, square = 0;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    const Periods periods = go_through(0, seed, 30'000'000, [](uint64_t, uint64_t) {});
    const double effective = static_cast<double>(periods.sampled()) / static_cast<double>(periods.done());
    all += effective;
    square += effective * effective;
  }
  const double mean = all / kRuns, deviation = std::sqrt(square / kRuns - mean * mean);
  const double asked = static_cast<double>(kRate) / static_cast<double>(Periods::kAlways);
  EXPECT_NEAR(mean, asked, 4 * deviation / std::sqrt(kRuns));
  EXPECT_LT(deviation,
            std::sqrt(asked * (1 - asked) / static_cast<double>(Periods::kShare)));  // the formula of pacer.md
}

}  // namespace
}  // namespace pf
