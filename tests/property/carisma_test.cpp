// CARISMA: what is decided when, that sizes are estimated without bias, that about the target rate is sampled, and that a rare
// context gets its share as trials go on. Sums and the file: tests/unit/carisma_state_test.cpp.
#include "filter/carisma.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>
#include <set>

#include "offline/catalog.h"
#include "property/random_traces.h"

namespace pf {
namespace {

constexpr CarismaStrategy kStrategies[] = {CarismaStrategy::Cls, CarismaStrategy::Fls, CarismaStrategy::Aas};
constexpr std::string_view kNames[] = {"cls", "fls", "aas"};
std::string_view name(CarismaStrategy s) { return kNames[static_cast<unsigned>(s)]; }

uint64_t parts(double rate) { return static_cast<uint64_t>(std::llround(rate * 0x1p32)); }
double share(uint64_t parts) { return static_cast<double>(parts) / 0x1p32; }

Event event(uint32_t thread, Op op, uint64_t target, uint32_t site = 0, uint64_t value = 0) {
  Event e;
  e.thread = ThreadId{thread};
  e.op = op;
  e.target = target;
  e.site = SiteId{site};
  e.value = value;
  if (is_access(op)) e.size = 8;
  return e;
}

CarismaState run(const CarismaOptions& options, const CarismaState& state, std::span<const Event> trace,
                 FilterStats* stats = nullptr) {
  CarismaFilter filter(options);
  filter.set_state(state);
  filter.pass(trace);
  if (stats != nullptr) *stats = filter.stats();
  return filter.trial();
}

// --- the bank of figures 1 and 2, in the order of table 1 ---

constexpr uint32_t kStm1 = 13, kStm2 = 16;
uint64_t account(uint64_t i) { return 0x1000 + i * 64; }

Trace bank() {
  Trace trace;
  for (uint64_t i = 0; i < 8; ++i) trace.push_back(event(0, Op::Alloc, account(i), kStm1, 8));
  trace.push_back(event(0, Op::Alloc, account(8), kStm2, 8));
  for (const uint64_t t : {uint64_t{1}, uint64_t{2}}) trace.push_back(event(0, Op::Fork, t, 20));
  const auto deposit = [&](uint64_t i) {
    trace.push_back(event(1, Op::Acquire, 100 + i));
    trace.push_back(event(1, Op::Write, account(i), 8));
    trace.push_back(event(1, Op::Release, 100 + i));
  };
  for (uint64_t i = 0; i < 5; ++i) deposit(i);
  trace.push_back(event(2, Op::Write, account(8), 12));  // creditInterest
  for (uint64_t i = 5; i < 9; ++i) deposit(i);
  return trace;
}

CarismaOptions forty_percent() { return {.law = {CarismaStrategy::Fls, parts(0.4), parts(0.001)}}; }

// A budget of 4 for contexts of 8 and 2: two each, at 25% and 100%.
TEST(CarismaBank, TwoContextsShareTheBudgetEvenly) {
  CarismaOptions all = forty_percent();
  all.law.rate = parts(1);
  const CarismaState known = run(all, {}, bank());
  ASSERT_EQ(known.contexts.size(), 2U);
  std::multiset<double> sizes;
  for (const auto& [id, sums] : known.contexts) sizes.insert(sums.size());
  EXPECT_EQ(sizes, (std::multiset<double>{2, 8}));
  for (const auto& [id, sums] : run(forty_percent(), known, bank()).contexts) {
    EXPECT_NEAR(share(sums.rates), known.contexts.at(id).size() == 8 ? 0.25 : 1, 1e-9);
  }
}

// Table 1: the race is always found, and 4 accesses are sampled on average, 2 + 0.25 x 8.
TEST(CarismaBank, TheRaceIsAlwaysFound) {
  constexpr uint64_t kSeeds = 2000;
  CarismaOptions options = forty_percent();
  options.law.rate = parts(1);
  const CarismaState known = run(options, {}, bank());
  double sampled = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    options = forty_percent();
    options.seed = seed;
    CarismaFilter filter(options);
    filter.set_state(known);
    const auto detector = make_detector({*find_engine("fasttrack", offline_catalog()), {}});
    const Trace trace = bank();
    detector->process(filter.pass(trace));
    EXPECT_EQ(detector->findings().races.size(), 1U) << "seed " << seed;
    sampled += static_cast<double>(filter.stats().rules[0]);
  }
  EXPECT_NEAR(sampled / kSeeds, 4, 4 * std::sqrt(8 * 0.25 * 0.75 / kSeeds));
}

// Both made by one function: its callers tell them apart.
TEST(CarismaBank, DepthTellsCallersApart) {
  Trace trace;
  for (const uint32_t caller : {kStm1, kStm2}) {
    trace.push_back(event(0, Op::Call, 7, caller));
    trace.push_back(event(0, Op::Alloc, account(caller), 5, 8));
    trace.push_back(event(0, Op::Return, 7));
    trace.push_back(event(0, Op::Write, account(caller)));
  }
  EXPECT_EQ(run({.depth = 1}, {}, trace).contexts.size(), 1U);
  EXPECT_EQ(run({.depth = 2}, {}, trace).contexts.size(), 2U);
  EXPECT_EQ(run({.depth = 9}, {}, trace).contexts.size(), 2U);
}

// Table 3: a context at 25% where the least is 30%. cls and fls go up to it; aas keeps to 25% by bursts of 10 and pauses of 2 writes.
TEST(CarismaTable3, TheLeastRateOfAContext) {
  for (const CarismaStrategy strategy : kStrategies) {
    const CarismaOptions options{.law = {strategy, parts(0.25), parts(0.3)}};
    CarismaState state;
    state.trials = 1;
    state.contexts[1] = {strategy == CarismaStrategy::Cls ? 4U : 12U, parts(1)};
    const double rate = share(run(options, state, {}).contexts.at(1).rates);
    EXPECT_NEAR(rate, strategy == CarismaStrategy::Aas ? 0.25 : 0.3, 1e-9) << name(strategy);
  }
}

// --- contexts and locations ---

TEST(Carisma, ContextsAreWhoWhatAndWhere) {
  Trace trace;
  const auto write = [&](uint32_t thread, uint64_t address) { trace.push_back(event(thread, Op::Write, address)); };
  const auto contexts = [&] { return run({}, {}, trace).contexts.size(); };
  trace.push_back(event(0, Op::Alloc, 0x1000, 1, 16));
  write(0, 0x1000);
  EXPECT_EQ(contexts(), 1U);
  trace.push_back(event(0, Op::Alloc, 0x2000, 1, 16));  // the same place, type and thread
  write(1, 0x2000);                                     // whoever uses it
  EXPECT_EQ(contexts(), 1U);
  write(0, 0x1008);  // another field
  EXPECT_EQ(contexts(), 2U);
  trace.push_back(event(0, Op::Alloc, 0x3000, 2, 16));  // another place
  write(0, 0x3000);
  EXPECT_EQ(contexts(), 3U);
  trace.push_back(event(0, Op::Fork, 1, 50));
  trace.push_back(event(0, Op::Fork, 2, 50));
  trace.push_back(event(1, Op::Alloc, 0x4000, 1, 16));  // another type of thread
  write(1, 0x4000);
  EXPECT_EQ(contexts(), 4U);
  trace.push_back(event(2, Op::Alloc, 0x5000, 1, 16));  // the same type
  write(2, 0x5000);
  EXPECT_EQ(contexts(), 4U);
  trace.push_back(event(0, Op::Alloc, 0x10000, 1, 4096));  // the elements of an array are one type
  for (uint64_t i = 0; i < 4096; i += 8) write(0, 0x10000 + i);
  EXPECT_EQ(contexts(), 5U);
  write(0, abstract_variable(1));  // variables are contexts of their own
  write(0, abstract_variable(2));
  EXPECT_EQ(contexts(), 7U);
}

TEST(Carisma, ALocationIsDecidedAtItsFirstAccessUntilItsMemoryIsAllocatedAnew) {
  for (const CarismaStrategy strategy : {CarismaStrategy::Cls, CarismaStrategy::Fls}) {
    CarismaFilter filter({.law = {.strategy = strategy, .rate = parts(0.5)}});
    int changes = 0;
    bool before = false;
    for (uint64_t life = 0; life < 400; ++life) {
      Trace trace = {event(0, Op::Alloc, 0x1000, 1, 8)};
      for (int i = 0; i < 10; ++i) trace.push_back(event(0, i % 3 == 0 ? Op::Write : Op::Read, 0x1000));
      trace.push_back(event(0, Op::Free, 0x1000, 2, 8));
      trace.push_back(event(1, Op::Read, 0x1004));  // too late, and in the same location
      const std::size_t kept = filter.pass(trace).size() - 2;
      EXPECT_TRUE(kept == 0 || kept == 11) << "life " << life << ": " << kept;
      changes += before != (kept != 0) ? 1 : 0;
      before = kept != 0;
    }
    EXPECT_NEAR(changes, 200, 50);
  }
}

// aas: pauses and bursts of writes; a read passes if a write would. Here 10 of 40, from any place in the cycle.
TEST(Carisma, AdaptiveAccessSamplingGoesInBursts) {
  const CarismaOptions options{.law = {CarismaStrategy::Aas, parts(0.25), parts(1)}};
  std::set<uint64_t> starts;
  for (uint64_t i = 0; i < 300; ++i) {
    CarismaOptions seeded = options;
    seeded.seed = i;
    CarismaFilter filter(seeded);
    std::vector<uint64_t> kept;
    for (uint64_t write = 0; write < 80; ++write) {
      const Trace trace = {event(0, Op::Read, 0x1000), event(0, Op::Write, 0x1000)};
      const std::size_t passed = filter.pass(trace).size();
      ASSERT_NE(passed, 1U) << "seed " << i;
      if (passed == 2) kept.push_back(write);
    }
    ASSERT_EQ(kept.size(), 20U) << "seed " << i;
    for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(kept[k] + 40, kept[k + 10]) << "seed " << i;
    starts.insert(kept.front() == 0 && kept[9] != 9 ? 40 : kept.front());
  }
  EXPECT_GE(starts.size(), 30U);
}

// --- rates ---

// So many locations of contexts 0, 1, …; each is written one to three times and read up to five times.
struct Program {
  explicit Program(std::vector<uint64_t> locations_of) : locations(std::move(locations_of)) {
    Random random(1);
    uint64_t address = 0x100000;
    for (uint32_t c = 0; c < locations.size(); ++c) {
      for (uint64_t i = 0; i < locations[c]; ++i, address += 64) {
        trace.push_back(event(0, Op::Alloc, address, c + 1, 8));
        const uint64_t more = random.below(3), reads = random.below(6);
        for (uint64_t k = 0; k <= more; ++k) trace.push_back(event(0, Op::Write, address));
        for (uint64_t k = 0; k < reads; ++k) trace.push_back(event(0, Op::Read, address));
        writes += more + 1;
      }
    }
  }
  std::vector<uint64_t> locations;
  uint64_t writes = 0;
  Trace trace;
};

// Over seeds, the mean of the estimated sizes is the true size; for aas with pauses between bursts, too.
TEST(Carisma, EstimatesSizesWithoutBias) {
  constexpr uint64_t kSeeds = 3000;
  const Program program({60});
  for (const CarismaStrategy strategy : kStrategies) {
    double sum = 0, squares = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const CarismaOptions options{.law = {strategy, parts(0.1), parts(0.5)}, .seed = seed};
      const double size = run(options, {}, program.trace).contexts.begin()->second.size();
      sum += size;
      squares += size * size;
    }
    const double mean = sum / kSeeds, variance = squares / kSeeds - mean * mean;
    const auto truth = static_cast<double>(strategy == CarismaStrategy::Cls ? 60 : program.writes);
    EXPECT_NEAR(mean, truth, 4 * std::sqrt(variance / kSeeds)) << name(strategy);
  }
}

// Table 5: the share of accesses that is sampled, over trials, is near the target for each strategy; there within about 10% of it
// on average and 20% for single programs. Contexts of 1 to 8,000 locations; aas with a least rate that makes it pause.
TEST(Carisma, SamplesAboutTheTargetRate) {
  const Program program({1, 3, 10, 30, 100, 300, 800, 1000, 2500, 8000});
  for (const CarismaStrategy strategy : kStrategies) {
    const uint64_t least = strategy == CarismaStrategy::Aas ? parts(0.2) : parts(0.00001);
    for (const double rate : {0.01, 0.1}) {
      constexpr int kTrials = 60;
      CarismaState state;
      double sum = 0, squares = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        FilterStats stats;
        state.add(run({.law = {strategy, parts(rate), least}}, state, program.trace, &stats));
        const double effective = stats.sampling->effective();
        sum += effective;
        squares += effective * effective;
      }
      const double mean = sum / kTrials, deviation = std::sqrt(squares / kTrials - mean * mean);
      std::cout << name(strategy) << " at " << 100 * rate << "%: " << 100 * mean << " +- " << 100 * deviation << "%\n";
      EXPECT_NEAR(mean, rate, 0.15 * rate) << name(strategy);
      EXPECT_LT(deviation, 0.3 * rate) << name(strategy);
    }
  }
}

// One racy location of a context of its own among 400 others: found at the target rate at first, then nearly always.
TEST(Carisma, ARareContextGetsItsShareAsTrialsGoOn) {
  constexpr int kRepetitions = 100, kTrials = 60;
  Trace trace = Program({400}).trace;
  trace.push_back(event(0, Op::Alloc, 0x1000, 99, 8));
  trace.push_back(event(0, Op::Fork, 1, 3));
  trace.push_back(event(0, Op::Write, 0x1000, 4));
  trace.push_back(event(1, Op::Write, 0x1000, 5));
  for (const CarismaStrategy strategy : kStrategies) {
    int first = 0, last = 0;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      CarismaState state;
      for (int trial = 0; trial < kTrials; ++trial) {
        CarismaFilter filter(
            {.law = {.strategy = strategy, .rate = parts(0.1)}, .seed = static_cast<uint64_t>(repetition)});
        filter.set_state(state);
        const auto kept = filter.pass(trace);
        const bool found = kept.back().op == Op::Write && kept.back().target == 0x1000;
        if (trial == 0) first += found ? 1 : 0;
        if (trial == kTrials - 1) last += found ? 1 : 0;
        state.add(filter.trial());
      }
    }
    EXPECT_NEAR(first, 10, 12) << name(strategy);
    EXPECT_GT(last, 95) << name(strategy);
  }
}

// A trial draws by the seed and the number of trials before it: the same again, and other locations next time.
TEST(Carisma, EachTrialDrawsAnew) {
  const Program program({1000});
  const auto kept = [&](uint64_t seed, uint64_t trials) {
    CarismaFilter filter({.law = {.strategy = CarismaStrategy::Cls, .rate = parts(0.1)}, .seed = seed});
    CarismaState state;
    state.trials = trials;
    filter.set_state(state);
    const auto span = filter.pass(program.trace);
    return Trace(span.begin(), span.end());
  };
  EXPECT_EQ(kept(1, 5), kept(1, 5));
  EXPECT_NE(kept(1, 5), kept(1, 6));
  EXPECT_NE(kept(1, 5), kept(2, 5));
}

}  // namespace
}  // namespace pf
