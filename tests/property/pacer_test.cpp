// PACER against the oracle, which knows the sampling periods, and against its rate.
#include <gtest/gtest.h>

#include <cmath>

#include "offline/catalog.h"
#include "property/guarantees.h"
#include "property/random_traces.h"
#include "property/run_engine.h"
#include "property/shrink.h"
#include "support/text_trace.h"

namespace pf {
namespace {

std::unique_ptr<DetectorStage> make(std::string_view name, Options options = {}) {
  return make_detector({*find_engine(name, offline_catalog()), std::move(options)});
}

using Make = std::unique_ptr<DetectorStage> (*)();

std::string verify(std::span<const Event> trace, Make make_pacer) {
  const Reports reports = run_engine(*make_pacer(), trace);
  if (!reports.lie.empty()) return "a report is wrong about its " + reports.lie;
  return sampled_shortest_races(trace, reports);
}

void test_periods(Make make_pacer, uint64_t count) {
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = with_periods(generate(seed), seed);
    if (verify(trace, make_pacer).empty()) continue;
    const auto fails = [&](std::span<const Event> t) {
      return !t.empty() && (t[0].op == Op::SamplingOn || t[0].op == Op::SamplingOff) && !verify(t, make_pacer).empty();
    };
    const Trace small = shrink(trace, fails);
    FAIL() << verify(small, make_pacer) << ", seed " << seed << ", shrunk to\n" << show(small);
  }
}

TEST(Pacer, ReportsTheSampledShortestRaces) {
  test_periods([] { return make("pacer"); }, traces());
}
TEST(Pacer, ReportsTheSampledShortestRacesWhenClocksRunOut) {
  test_periods([] { return make_narrow("pacer"); }, traces() / 2);
}

TEST(Pacer, IsFastTrackWhenEverythingIsSampled) {
  for (uint64_t seed = first_seed(); seed < first_seed() + traces(); ++seed) {
    const Trace trace = generate(seed);
    const auto pacer = make("pacer", {{"rate", "100%"}}), fasttrack = make("fasttrack");
    EXPECT_EQ(run_engine(*pacer, trace).pairs, run_engine(*fasttrack, trace).pairs) << "seed " << seed;
  }
}

TEST(Pacer, FindsNothingWhenNothingIsSampled) {
  for (uint64_t seed = 1; seed < 500; ++seed) {
    EXPECT_TRUE(run_engine(*make("pacer", {{"rate", "0"}}), generate(seed)).pairs.empty()) << "seed " << seed;
  }
}

// Three races, early, late and between two sides of a busy program; each must be found as often as its first access is
// sampled. Chi-square with one degree of freedom: above 10.8 in one of a thousand honest experiments. Seeds are fixed.
TEST(Pacer, FindsEachRaceAtItsRate) {
  constexpr unsigned kRuns = 5000;
  std::string text = "T0|fork(T1)| T0|fork(T2)| T0|w(V1)| T1|w(V1)| ";
  for (int i = 0; i < 30; ++i) {
    if (i == 10) text += "T1|w(V2)| ";
    if (i == 20) text += "T2|w(V3)| ";
    text += "T0|acq(L1)| T0|rel(L1)| ";
  }
  text += "T2|w(V2)| T1|w(V3)| ";
  const Trace trace = parse_trace(text).events;
  for (const double rate : {0.03, 0.1, 0.5}) {
    std::map<uint64_t, unsigned> found;
    for (unsigned seed = 0; seed < kRuns; ++seed) {
      const auto pacer =
          make("pacer", {{"rate", std::to_string(rate)}, {"period", "7"}, {"seed", std::to_string(seed)}});
      pacer->process(trace);
      for (const FoundRace& race : pacer->findings().races) ++found[race.record.memory.address];
    }
    ASSERT_EQ(found.size(), 3U);
    for (const auto& [variable, times] : found) {
      const double expected = rate * kRuns, off = times - expected;
      EXPECT_LT(off * off / expected + off * off / (kRuns - expected), 10.8)
          << "rate " << rate << ", found " << times << " times";
    }
  }
}

// What was sampled of a long trace is close to what was asked for.
TEST(Pacer, TellsTheEffectiveRate) {
  std::string text = "T0|fork(T1)| ";
  for (int i = 0; i < 5000; ++i) text += "T0|acq(L1)| T0|w(V1)| T0|rel(L1)| T1|acq(L1)| T1|w(V1)| T1|rel(L1)| ";
  const Trace trace = parse_trace(text).events;
  const auto pacer = make("pacer", {{"rate", "10%"}, {"period", "10"}});
  pacer->process(trace);
  const std::optional<SamplingCounts> counts = pacer->findings().sampling;
  ASSERT_TRUE(counts.has_value());
  EXPECT_NEAR(counts->rate.value_or(0), 0.1, 1e-6);
  EXPECT_NEAR(counts->effective(), 0.1, 3 * std::sqrt(0.1 * 0.9 / 2000));
  EXPECT_EQ(counts->accesses, 10000U);
  EXPECT_NEAR(static_cast<double>(counts->sampled_accesses) / 10000, counts->effective(), 0.01);
}

uint64_t times(const DetectorStage& pacer, std::string_view rule) {
  for (const RuleCount& r : pacer.findings().rules) {
    if (r.rule == rule) return r.count;
  }
  return 0;
}

TEST(Pacer, KeepsNothingOfWhatIsNotSampled) {
  const auto writes_to = [](int variables) {
    std::string text = "T0|fork(T1)| T0|alloc(0x10000,64)| T0|w(0x10000,8)| ";
    for (int i = 1; i < variables; ++i) text += "T0|acq(L1)| T0|w(V" + std::to_string(i) + ")| T0|rel(L1)| ";
    return parse_trace(text).events;
  };
  const auto bytes = [&](int variables) {
    const auto pacer = make("pacer", {{"rate", "0"}});
    pacer->process(writes_to(variables));
    return pacer->findings().bytes;
  };
  EXPECT_EQ(bytes(2), bytes(2000));
  const Trace trace = writes_to(100);
  const auto off = make("pacer", {{"rate", "0"}}), on = make("pacer", {{"rate", "100%"}});
  off->process(trace);
  on->process(trace);
  EXPECT_EQ(times(*off, "not sampled"), 100U);
  EXPECT_EQ(times(*on, "not sampled"), 0U);
}

// What is kept longer than needed costs, but makes no report wrong: only the rules that were taken tell.
struct RuleCase {
  std::string_view text, rule;
  uint64_t count;
};
TEST(Pacer, ForgetsBetweenPeriodsWhatWouldBeReplaced) {
  for (const RuleCase& c : {
           RuleCase{"T0|sample| T0|w(V1)| T0|rest| T0|acq(L1)| T0|rel(L1)| T0|w(V1)|", "write same epoch", 1},
           {"T0|sample| T0|w(V1)| T0|acq(L1)| T0|rel(L1)| T0|rest| T0|w(V1)| T0|w(V1)|", "not sampled", 1},
           {"T0|sample| T0|r(V1)| T0|acq(L1)| T0|rel(L1)| T0|rest| T0|r(V1)| T0|r(V1)|", "not sampled", 1},
           {"T0|sample| T0|store(0x40,relaxed)| T0|acq(L1)| T0|rel(L1)| T0|rest| T0|store(0x40,relaxed)| "
            "T0|store(0x40,relaxed)|",
            "not sampled", 1},
           // Of two readers the other is left, and is as if it had been the only one.
           {"T0|sample| T0|fork(T1)| T0|r(V1)| T1|r(V1)| T0|acq(L1)| T0|rel(L1)| T0|rest| T0|r(V1)| T1|r(V1)|",
            "read same epoch", 1},
       }) {
    const auto pacer = make("pacer");
    pacer->process(parse_trace(c.text).events);
    EXPECT_EQ(times(*pacer, c.rule), c.count) << c.text;
  }
}

// T1's write reaches T4 by T2 and L2 only. T0 knows T2's time, which stood still, but not what T2 learned last: if T3 took T2's
// slot, T4 would take what it has from T3 for something newer than what T2 left at L2.
TEST(Pacer, UsesASlotAgainOnlyWhereItsVersionsAreKnown) {
  const Trace trace =
      parse_trace("T0|sample| T0|fork(T1)| T0|fork(T2)| T0|fork(T4)| T1|w(V0)| T1|acq(L0)| T1|rel(L0)| T1|rest| "
                  "T2|acq(L1)| T2|rel(L1)| T0|acq(L1)| T0|rel(L1)| T2|acq(L0)| T2|rel(L0)| T2|acq(L2)| T2|rel(L2)| "
                  "T2|end| T0|fork(T3)| T3|acq(L3)| T3|rel(L3)| T4|acq(L3)| T4|rel(L3)| T4|acq(L2)| T4|w(V0)|")
          .events;
  EXPECT_TRUE(run_engine(*make("pacer"), trace).pairs.empty());
}

// Between periods, too: clocks do not grow with the number of threads that ever were.
TEST(Pacer, UsesTheSlotsOfJoinedThreadsAgain) {
  const auto bytes_after = [](int threads) {
    std::string text;
    for (int i = 1; i <= threads; ++i) {
      const std::string id = std::to_string(i);
      text += "T0|fork(T" + id + ")| T" + id + "|w(V0)| T" + id + "|end| T0|join(T" + id + ")| ";
    }
    const auto pacer = make("pacer", {{"rate", "0"}});
    pacer->process(parse_trace(text).events);
    return pacer->findings().bytes;
  };
  EXPECT_EQ(bytes_after(100), bytes_after(10));
}

}  // namespace
}  // namespace pf
