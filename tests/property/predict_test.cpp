// The predictors against the exhaustive search of the oracle, over many small random traces.
#include <gtest/gtest.h>

#include <set>

#include "predict/predictor.h"
#include "property/oracle.h"
#include "property/random_traces.h"
#include "support/text_trace.h"

namespace pf {
namespace {

using oracle::Race;
using predict::Method;
using predict::Prediction;
using predict::Settings;
using Races = std::set<Race>;

constexpr size_t kMaxStates = 60'000;

// What a predictor says of a trace.
struct Answer {
  Races races;
  std::vector<Prediction> predictions;
  predict::Tally tally;
};

Answer ask(std::span<const Event> trace, const Settings& settings) {
  Answer answer;
  predict::Cutter cutter(settings.window, [&](predict::Window&& window) {
    const predict::WindowResult result = predict::predict(window, settings);
    for (const Prediction& p : result.races) {
      answer.races.insert({p.first_event - 1, p.second_event - 1});
      answer.predictions.push_back(p);
    }
    answer.tally += result.tally;
  });
  cutter.process(trace);
  cutter.finish();
  return answer;
}

Settings settings(Method method, uint64_t window = 10'000) { return {.method = method, .window = window}; }

Trace small_trace(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 8 + seed % 28);
  options.unique_sites = true;
  return generate(options);
}

// The trace is tried only if the oracle can decide it.
using Check = std::function<std::string(std::span<const Event>, const Races& predictable)>;

std::string check(std::span<const Event> trace, const Check& what) {
  const auto truth = oracle::predictable_races(trace, kMaxStates);
  return truth ? what(trace, Races(truth->begin(), truth->end())) : "";
}

void for_random_traces(uint64_t count, const Check& what) {
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = small_trace(seed);
    if (check(trace, what).empty()) continue;
    const Trace small = shrink(trace, [&](std::span<const Event> t) { return !check(t, what).empty(); });
    FAIL() << check(small, what) << ", seed " << seed << ", shrunk to\n" << show(small);
  }
}

std::string show(const Races& races) {
  std::ostringstream out;
  for (const Race& r : races) out << " " << r;
  return out.str();
}

uint64_t few() { return std::min<uint64_t>(traces(), 5000); }

TEST(Mc, IsTheExhaustiveSearch) {
  uint64_t found = 0, solved = 0;
  for_random_traces(few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    const Answer mc = ask(trace, settings(Method::Mc));
    if (mc.tally.unknown != 0) return "unknown";
    found += mc.races.size();
    solved += mc.tally.solved;
    return mc.races == truth ? "" : "mc has" + show(mc.races) + ", the oracle" + show(truth);
  });
  EXPECT_GT(found, few());
  EXPECT_GT(solved, few() / 50) << "the solver has little to do";
}

}  // namespace
}  // namespace pf
