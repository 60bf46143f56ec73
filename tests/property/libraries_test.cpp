// fasttrack,libs=barrier against the oracle: on random traces with methods deleted it reports no pair that the complete trace orders; with none
// deleted it is fasttrack.
#include <gtest/gtest.h>

#include <set>

#include "offline/catalog.h"
#include "property/deletion.h"
#include "property/oracle.h"
#include "property/run_engine.h"
#include "support/text_trace.h"

namespace pf {
namespace {

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;  // of sites, which are unique

std::unique_ptr<DetectorStage> engine(const char* chain) {
  return make_detector(parse_chain(chain, offline_catalog())->detector());
}

Pairs reported(std::span<const Event> trace, const char* chain) {
  Pairs pairs;
  for (const auto& [pair, verdict] : run_by_site(*engine(chain), trace)) pairs.emplace(pair.low, pair.high);
  return pairs;
}

Pairs truth(std::span<const Event> trace) {
  Pairs pairs;
  for (const oracle::Race& r : oracle::races(trace, oracle::Relation::Hb)) {
    const auto [low, high] = std::minmax({index(trace[r.first].site), index(trace[r.second].site)});
    pairs.emplace(low, high);
  }
  return pairs;
}

bool is_subset(const Pairs& a, const Pairs& b) { return std::ranges::includes(b, a); }

Trace incomplete(std::span<const Event> trace, uint64_t seed) {
  return Deletion(trace, seed, Deletion::Spares::ThreadsAndBlocks).run();
}

bool has_false_alarm(std::span<const Event> trace, uint64_t seed, const char* chain) {
  return !is_subset(reported(incomplete(trace, seed), chain), truth(trace));
}

constexpr const char* kBarrier = "fasttrack,libs=barrier";

TEST(Libraries, HaveNoFalseAlarmWithMethodsMissing) {
  uint64_t found = 0, false_alarms_without = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + traces() / 2; ++seed) {
    const Trace trace = generate(seed);
    found += reported(incomplete(trace, seed), kBarrier).size();
    false_alarms_without += has_false_alarm(trace, seed, "fasttrack") ? 1 : 0;
    if (!has_false_alarm(trace, seed, kBarrier)) continue;
    const Trace small = shrink(trace, [&](std::span<const Event> t) { return has_false_alarm(t, seed, kBarrier); });
    FAIL() << "seed " << seed << ", shrunk to\n"
           << show(small) << "of which was seen\n"
           << show(incomplete(small, seed));
  }
  EXPECT_GT(found, traces() / 20) << "nothing is found any more";
  EXPECT_GT(false_alarms_without, traces() / 50) << "little that matters was deleted";
}

TEST(Libraries, HaveNoFalseAlarmWhenClocksRunOut) {
  for (uint64_t seed = first_seed(); seed < first_seed() + traces() / 4; ++seed) {
    const Trace trace = generate(seed);
    Pairs pairs;
    for (const auto& [pair, verdict] : run_by_site(*make_narrow_with_libraries(), incomplete(trace, seed)))
      pairs.emplace(pair.low, pair.high);
    ASSERT_TRUE(is_subset(pairs, truth(trace))) << "seed " << seed << "\n" << show(trace);
  }
}

// Of variables that are accessed as a whole. Which of a thread's accesses is reported depends on its epochs, which are shorter here.
Trace generate_words(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 10 + seed % 60);
  options.unique_sites = true;
  options.bytes = false;
  options.heap_blocks = 0;
  return generate(options);
}

std::set<uint64_t> racy_variables_of(std::span<const Event> trace, const char* chain) {
  std::set<uint64_t> variables;
  for (const auto& [pair, verdict] : run_by_site(*engine(chain), trace)) variables.insert(pair.variable);
  return variables;
}

// What plain fasttrack reports of the rest is a race or a suspect: nothing is lost sight of.
TEST(Libraries, TellOfAllThatTheyKeepBack) {
  uint64_t kept_back = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + traces() / 4; ++seed) {
    const Trace seen = incomplete(generate_words(seed), seed);
    ASSERT_EQ(racy_variables_of(seen, "fasttrack"), racy_variables_of(seen, "fasttrack,libs=barrier,show"))
        << "seed " << seed << "\n"
        << show(seen);
    const auto stage = engine(kBarrier);
    stage->process(seen);
    kept_back += stage->findings().by_library.value_or(0);
  }
  EXPECT_GT(kept_back, traces() / 50);
}

TEST(Libraries, AreFastTrackWithNothingMissing) {
  for (uint64_t seed = first_seed(); seed < first_seed() + traces() / 4; ++seed) {
    const Trace trace = generate(seed);
    const Reports reports = run_engine(*engine(kBarrier), trace);
    ASSERT_EQ(reports.lie, "") << "seed " << seed << "\n" << show(trace);
    ASSERT_EQ(racy_variables(trace, reports), "") << "seed " << seed << "\n" << show(trace);
  }
}

}  // namespace
}  // namespace pf
