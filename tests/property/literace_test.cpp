// LiteRace: the burst law call by call, and which races it finds and misses, beside PACER.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "offline/catalog.h"
#include "property/random_traces.h"
#include "support/text_trace.h"

namespace pf {
namespace {

std::unique_ptr<FilterStage> literace(Options options = {}) {
  return make_filter({*find_engine("literace", offline_catalog()), std::move(options)});
}
Options seeded(uint64_t seed) { return {{"seed", std::to_string(seed)}}; }

Event event(uint32_t thread, Op op, uint64_t target) {
  Event e;
  e.thread = ThreadId{thread};
  e.op = op;
  e.target = target;
  if (is_access(op)) e.size = 8;
  return e;
}

// A call of a function that writes one variable.
void call(Trace& trace, uint32_t thread, uint64_t function, uint64_t variable) {
  trace.push_back(event(thread, Op::Call, function));
  trace.push_back(event(thread, Op::Write, abstract_variable(variable)));
  trace.push_back(event(thread, Op::Return, function));
}

// Which of the writes pass, by their variables.
std::vector<uint64_t> written(std::span<const Event> kept) {
  std::vector<uint64_t> variables;
  for (const Event& e : kept) {
    if (e.op == Op::Write) variables.push_back((e.target & ~kAbstract) >> 3);
  }
  return variables;
}

std::vector<uint64_t> bursts(std::initializer_list<uint64_t> starts, uint64_t length) {
  std::vector<uint64_t> all;
  for (const uint64_t start : starts) {
    for (uint64_t i = 0; i < length; ++i) all.push_back(start + i);
  }
  return all;
}

TEST(LiteRace, SamplesEachFunctionOfEachThreadByTheBurstLaw) {
  Trace trace;
  for (uint64_t i = 0; i < 25000; ++i) call(trace, 0, 7, i);
  EXPECT_EQ(written(literace(seeded(0))->pass(trace)), bursts({0, 100, 1100, 11100, 21100}, 10));
  Options threes = seeded(0);
  threes["burst"] = "3";
  EXPECT_EQ(written(literace(threes)->pass(trace)),
            bursts({0, 30, 330, 3330, 6330, 9330, 12330, 15330, 18330, 21330, 24330}, 3));
  // Another function, and the same one in another thread, are as new as the first was.
  const auto filter = literace(seeded(0));
  filter->pass(trace);
  Trace more;
  for (uint64_t i = 0; i < 20; ++i) call(more, 0, 8, i);
  EXPECT_EQ(written(filter->pass(more)), bursts({0}, 10));
  more.clear();
  for (uint64_t i = 0; i < 20; ++i) call(more, 1, 7, i);
  EXPECT_EQ(written(filter->pass(more)), bursts({0}, 10));
}

TEST(LiteRace, AnExecutionIsSampledWholeAndItsCalleesDecideForThemselves) {
  Trace trace;
  for (uint64_t i = 0; i < 30; ++i) {
    trace.push_back(event(0, Op::Call, 1));
    trace.push_back(event(0, Op::Write, abstract_variable(i)));
    if (i >= 15) call(trace, 0, 2, 100 + i);
    trace.push_back(event(0, Op::Write, abstract_variable(200 + i)));
    trace.push_back(event(0, Op::Return, 1));
  }
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; i < 10; ++i) expected.insert(expected.end(), {i, 200 + i});
  for (uint64_t i = 15; i < 25; ++i) expected.push_back(100 + i);
  EXPECT_EQ(written(literace(seeded(0))->pass(trace)), expected);
}

// The calls of two functions are all used up. A jump out of both leaves none to be in, and what follows is outside.
TEST(LiteRace, AReturnLeavesWhatWasCalledInBetween) {
  Trace trace;
  for (uint64_t i = 0; i < 10; ++i) {
    for (const uint64_t function : {uint64_t{1}, uint64_t{2}}) call(trace, 0, function, 0);
  }
  const auto filter = literace(seeded(0));
  filter->pass(trace);
  const auto write = event(0, Op::Write, abstract_variable(5));
  trace = {event(0, Op::Call, 1), event(0, Op::Call, 2), write, event(0, Op::Return, 1), write};
  EXPECT_EQ(written(filter->pass(trace)), std::vector<uint64_t>{5});
}

TEST(LiteRace, WithoutCallsEachThreadIsOneFunctionAndEachAccessAnExecution) {
  Trace trace;
  for (uint64_t i = 0; i < 1200; ++i) trace.push_back(event(0, Op::Write, abstract_variable(i)));
  for (uint64_t i = 0; i < 20; ++i) trace.push_back(event(1, Op::Write, abstract_variable(i)));
  std::vector<uint64_t> expected = bursts({0, 100, 1100, 0}, 10);
  EXPECT_EQ(written(literace(seeded(0))->pass(trace)), expected);
  trace = {event(0, Op::Return, 5)};  // of what was entered before the trace began
  EXPECT_EQ(literace()->pass(trace).size(), 1U);
}

// With pauses drawn the rates are the same on average: each pause from half to one and a half of the exact one, their mean
// within four standard deviations of it. The pauses of the first 14 bursts, which fit into the trace whatever is drawn.
TEST(LiteRace, RandomPausesKeepTheRates) {
  constexpr uint64_t kSeeds = 100, kPauses = 13;
  Trace trace;
  for (uint64_t i = 0; i < 170000; ++i) call(trace, 0, 7, i);
  constexpr double kFirst[] = {90, 990};
  std::map<double, std::vector<double>> drawn;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<uint64_t> kept = written(literace(seeded(seed))->pass(trace));
    ASSERT_GE(kept.size(), (kPauses + 1) * 10) << "seed " << seed;
    for (std::size_t i = 1; i <= kPauses; ++i) {
      const double exact = i <= 2 ? kFirst[i - 1] : 9990;
      drawn[exact].push_back(static_cast<double>(kept[i * 10] - kept[i * 10 - 1] - 1));
      EXPECT_LE(std::abs(drawn[exact].back() - exact), exact / 2) << "seed " << seed;
    }
  }
  for (const auto& [exact, pauses] : drawn) {
    const auto count = static_cast<double>(pauses.size());
    const double mean = std::accumulate(pauses.begin(), pauses.end(), 0.0) / count;
    EXPECT_NEAR(mean, exact, 4 * exact / std::sqrt(12 * count));
  }
}

// --- hot and cold ---

bool finds(std::string_view chain_text, std::span<const Event> trace) {
  const Result<Chain> chain = parse_chain(chain_text, offline_catalog());
  if (!chain) {
    ADD_FAILURE() << chain.error().message;
    return false;
  }
  const auto detector = make_detector(chain->detector());
  const auto filters = make_filters(*chain);  // whose memory the events are in
  for (const auto& filter : filters) trace = filter->pass(trace);
  detector->process(trace);
  return !detector->findings().races.empty();
}

// Two threads call one function 30,000 times each, on variables of their own but for one call each in the middle.
Trace hot_race() {
  Trace trace = {event(0, Op::Fork, 1)};
  for (uint64_t i = 0; i < 30000; ++i) {
    for (uint32_t t = 0; t < 2; ++t) {
      call(trace, t, 7, i == 20000 ? 1 : 2 + t);
      if (i % 10 == 0) {  // work for PACER's periods
        trace.push_back(event(t, Op::Acquire, 100 + t));
        trace.push_back(event(t, Op::Release, 100 + t));
      }
    }
  }
  return trace;
}

// The paper's surmise: both sides at 0.1% make one in a million, so none of 300; PACER finds it at its rate.
TEST(LiteRace, MissesARaceOfHotFunctionsThatPacerFinds) {
  constexpr int kSeeds = 300;
  const Trace trace = hot_race();
  int by_literace = 0, by_pacer = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    by_literace += finds("literace,seed=" + std::to_string(seed) + ":fasttrack", trace);
    by_pacer += finds("pacer,rate=10%,period=100,seed=" + std::to_string(seed), trace);
  }
  EXPECT_EQ(by_literace, 0);
  EXPECT_NEAR(by_pacer, kSeeds * 0.1, 4 * std::sqrt(kSeeds * 0.1 * 0.9));
}

// The same with a function that either thread calls once: always found.
TEST(LiteRace, FindsARaceOfColdFunctions) {
  Trace trace = hot_race();
  for (uint32_t t = 0; t < 2; ++t) call(trace, t, 8, 50);
  for (int seed = 1; seed <= 100; ++seed) {
    EXPECT_TRUE(finds("literace,seed=" + std::to_string(seed) + ":fasttrack", trace)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pf
