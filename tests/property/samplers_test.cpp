// What every sampling filter keeps to, on random traces: no false alarm, and nothing but plain reads and writes is dropped.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"
#include "offline/catalog.h"
#include "property/guarantees.h"
#include "property/random_traces.h"
#include "property/run_engine.h"

namespace pf {
namespace {

// Calls and returns of three functions at random places.
Trace with_calls(const Trace& trace, uint64_t seed) {
  Random random(seed);
  Trace with;
  for (const Event& e : trace) {
    if (random.below(3) == 0) {
      Event call;
      call.thread = e.thread;
      call.op = random.below(2) == 0 ? Op::Call : Op::Return;
      call.target = random.below(3);
      with.push_back(call);
    }
    with.push_back(e);
  }
  for (std::size_t i = 0; i < with.size(); ++i) with[i].site = SiteId{static_cast<uint32_t>(i) + 1};
  return with;
}

class Filtered final : public DetectorStage {
 public:
  explicit Filtered(const Chain& chain)
      : filter_(std::move(make_filters(chain).front())), detector_(make_detector(chain.detector())) {}
  void process(std::span<const Event> batch) override { detector_->process(filter_->pass(batch)); }
  Findings findings() const override { return detector_->findings(); }
  uint64_t dropped() const { return filter_->stats().dropped; }

 private:
  std::unique_ptr<FilterStage> filter_;
  std::unique_ptr<DetectorStage> detector_;
};

class Samplers : public testing::TestWithParam<const char*> {
 protected:
  static Chain chain(uint64_t seed) {
    return *parse_chain(std::string(GetParam()) + ",seed=" + std::to_string(seed) + ":fasttrack", offline_catalog());
  }
};

TEST_P(Samplers, RaiseNoFalseAlarm) {
  const uint64_t count = traces() / 4;
  uint64_t dropped = 0, found = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = with_calls(generate(seed), seed);
    Filtered engine(chain(seed));
    const Reports reports = run_engine(engine, trace);
    ASSERT_EQ(reports.lie + only_real_races(trace, reports), "") << "seed " << seed << "\n" << show(trace);
    dropped += engine.dropped();
    found += reports.pairs.size();
  }
  EXPECT_GT(dropped, count) << "the filter has little to do in these traces";
  EXPECT_GT(found, count / 8) << "the filter leaves too little to find";
}

TEST_P(Samplers, LeaveSynchronizationAlone) {
  const auto others = [](std::span<const Event> events) {
    Trace rest;
    std::ranges::copy_if(events, std::back_inserter(rest), [](const Event& e) { return e.op > Op::Write; });
    return rest;
  };
  for (uint64_t seed = first_seed(); seed < first_seed() + 1000; ++seed) {
    const Trace trace = with_calls(generate(seed), seed);
    const auto filter = std::move(make_filters(chain(seed)).front());
    const std::span<const Event> kept = filter->pass(trace);
    const FilterStats stats = filter->stats();
    EXPECT_EQ(others(kept), others(trace)) << "seed " << seed;
    EXPECT_EQ(kept.size() + stats.dropped, trace.size()) << "seed " << seed;
    EXPECT_EQ(stats.sampling->accesses, stats.sampling->sampled_accesses + stats.dropped) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Filters, Samplers,
                         testing::Values("literace,burst=1", "carisma,strategy=cls,rate=50%",
                                         "carisma,strategy=fls,rate=50%", "carisma,strategy=aas,rate=50%,min=90%"));

}  // namespace
}  // namespace pf
