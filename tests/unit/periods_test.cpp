// Work that is told in parts, ahead or late, leaves periods where they are (core/periods.h).
#include "core/periods.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace pf
