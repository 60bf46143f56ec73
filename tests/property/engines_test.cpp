// Every engine of the registry against the oracle, over many random traces: what it guarantees, and that no report lies.
// An engine without a line in kGuarantees fails the test: nothing gets in unproved.
//
// PF_TRACES=N sets the number of traces, PF_SEED=S the first seed; a failure prints the seed, the shrunk trace and the
// command to repeat it.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "offline/catalog.h"
#include "property/guarantees.h"
#include "property/oracle.h"
#include "property/random_traces.h"
#include "property/run_engine.h"
#include "support/text_trace.h"

namespace pf {
namespace {

using oracle::Relation;

// --- the runs ---

using MakeEngine = std::function<std::unique_ptr<DetectorStage>()>;

std::string verify(std::span<const Event> trace, const MakeEngine& make, const Guarantee& guarantee) {
  const Reports reports = run_engine(*make(), trace);
  if (!reports.lie.empty()) return "a report is wrong about its " + reports.lie;
  return guarantee(trace, reports);
}

void test_engine(const MakeEngine& make, const Guarantee& guarantee, uint64_t count) {
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = generate(seed);
    if (verify(trace, make, guarantee).empty()) continue;
    const Trace small = shrink(trace, [&](std::span<const Event> t) { return !verify(t, make, guarantee).empty(); });
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    FAIL() << verify(small, make, guarantee) << ", seed " << seed << ", shrunk to\n"
           << show(small) << "repeat: PF_SEED=" << seed
           << " PF_TRACES=1 property_tests --gtest_filter=" << info->test_suite_name() << "." << info->name();
  }
}

class Engines : public testing::TestWithParam<const EngineInfo*> {};

TEST_P(Engines, KeepTheirGuarantee) {
  const EngineInfo& info = *GetParam();
  ASSERT_TRUE(kGuarantees.contains(info.name)) << "say in kGuarantees what " << info.name << " guarantees";
  test_engine([&] { return make_detector({&info, {}}); }, kGuarantees.at(info.name), traces());
}

TEST_P(Engines, KeepTheirGuaranteeWhenClocksRunOut) {
  const EngineInfo& info = *GetParam();
  ASSERT_TRUE(kGuarantees.contains(info.name));
  test_engine([&] { return make_narrow(info.name); }, kGuarantees.at(info.name), traces() / 4);
}

const EngineInfo& engine(std::string_view name) { return **find_engine(name, offline_catalog()); }

TEST(SimpleLock, UnlimitedQueueFindsEveryPairWithALocklessSide) {
  test_engine([] { return make_detector({&engine("simplelock"), {{"q", "0"}}}); }, every_hybrid_race(one_without_lock),
              traces());
}

TEST(SimpleLock, AnyQueueFindsASubset) {
  for (const char* q : {"2", "3", "8"}) {
    test_engine([&] { return make_detector({&engine("simplelock"), {{"q", q}}}); }, only_hybrid_races(one_without_lock),
                traces() / 4);
  }
}

TEST(ClockRace, SymmetricRuleFindsRacesOnly) {
  test_engine([] { return make_detector({&engine("clockrace"), {{"symmetric", "on"}}}); }, every_clock_race(true),
              traces());
}

std::map<SitePair, Verdict> hybrid_site_pairs(std::span<const Event> trace, LocksAllow allow) {
  std::map<SitePair, Verdict> truth;
  for (const auto& [r, verdict] : hybrid_races(trace, allow)) {
    const auto [low, high] = std::minmax({index(trace[r.first].site), index(trace[r.second].site)});
    Verdict& known = truth.try_emplace({low, high, trace[r.second].target}, verdict).first->second;
    if (verdict == Verdict::Real) known = Verdict::Real;
  }
  return truth;
}

// With few sites, sightings are replaced by later ones; no pair of sites may be lost by that, nor its verdict.
void test_by_site(const MakeEngine& make, LocksAllow allow, uint64_t count) {
  const auto fails = [&](std::span<const Event> t) { return run_by_site(*make(), t) != hybrid_site_pairs(t, allow); };
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = generate_few_sites(seed);
    if (fails(trace)) FAIL() << "seed " << seed << ", shrunk to\n" << show(shrink(trace, fails));
  }
}

TEST(MultiLock, LosesNoPairOfSites) {
  test_by_site([] { return make_detector({&engine("multilock"), {}}); }, no_common_lock, traces());
}
TEST(SimpleLock, UnlimitedQueueLosesNoPairOfSites) {
  test_by_site([] { return make_detector({&engine("simplelock"), {{"q", "0"}}}); }, one_without_lock, traces());
}

// --- filters in front ---

// A detector behind a filter. The filter sees few sites, so that accesses repeat; the detector sees the unique ones.
class Filtered final : public DetectorStage {
 public:
  Filtered(std::unique_ptr<FilterStage> filter, std::unique_ptr<DetectorStage> detector)
      : filter_(std::move(filter)), detector_(std::move(detector)) {}
  void process(std::span<const Event> batch) override {
    for (const Event& e : batch) {
      Event coarse = e;
      coarse.site = SiteId{1 + index(e.site) % 3};
      if (!filter_->pass({&coarse, 1}).empty()) detector_->process({&e, 1});
    }
  }
  Findings findings() const override { return detector_->findings(); }

 private:
  std::unique_ptr<FilterStage> filter_;
  std::unique_ptr<DetectorStage> detector_;
};

MakeEngine tree_before(std::string_view detector, const Options& tree) {
  return [=] {
    return std::make_unique<Filtered>(make_filter({&engine("tree"), tree}), make_detector({&engine(detector), {}}));
  };
}

TEST(Tree, ExactLosesNoVariableOfFastTrack) {
  test_engine(tree_before("fasttrack", {{"exact", "on"}}), racy_variables, traces());
}
TEST(Tree, ExactWithHardlyAnyMemory) {
  test_engine(tree_before("fasttrack", {{"exact", "on"}, {"memory", "0"}}), racy_variables, traces() / 4);
}

// Both stages see the same few sites: no pair of sites may be lost. (Whether it is real may be: a later access was dropped.)
void test_tree_before(std::string_view detector, Options options, LocksAllow allow, uint64_t count) {
  uint64_t dropped = 0;
  const auto fails = [&](std::span<const Event> t) {
    const auto filter = make_filter({&engine("tree"), {}});
    const std::span<const Event> kept = filter->pass(t);
    dropped += filter->stats().dropped;
    std::set<SitePair> found, truth;
    for (const auto& [pair, verdict] : run_by_site(*make_detector({&engine(detector), options}), kept))
      found.insert(pair);
    for (const auto& [pair, verdict] : hybrid_site_pairs(t, allow)) truth.insert(pair);
    return found != truth;
  };
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = generate_few_sites(seed);
    if (fails(trace)) FAIL() << "seed " << seed << ", shrunk to\n" << show(shrink(trace, fails));
  }
  EXPECT_GT(dropped, count) << "the filter has little to do in these traces";
}
TEST(Tree, LosesNoSitePairOfMultiLock) { test_tree_before("multilock", {}, no_common_lock, traces()); }
TEST(Tree, LosesNoSitePairOfUnlimitedSimpleLock) {
  test_tree_before("simplelock", {{"q", "0"}}, one_without_lock, traces());
}

// What random traces seldom hit, written by hand.
const std::vector<std::string_view> kDirectedTraces = {
    // A new block at the address of an old atomic has nothing to do with it.
    "T0|w(V0)| T0|store(0x40,release)| T0|free(0x40,8)| T1|alloc(0x40,8)| T1|load(0x40,acquire)| T1|w(V0)|",
    "T0|w(V0)| T0|store(0x40,release)| T1|alloc(0x38,16)| T1|load(0x40,acquire)| T1|w(V0)|",
    // A recursive lock is held until its last release.
    "T0|acq(L0)| T0|acq(L0)| T0|w(V0)| T0|rel(L0)| T0|w(V1)| T0|rel(L0)| T1|w(V1)| T1|acq(L0)| T1|w(V0)| T1|rel(L0)|",
    // Two frees of one block, and a use after both.
    "T0|alloc(0x40,64)| T0|fork(T1)| T0|free(0x40,64)| T1|free(0x48,8)| T1|r(0x44,8)| T0|w(0x60,4)|",
    // An access over many granules meets accesses to parts of it.
    "T0|w(0x3d,40)| T1|r(0x40,1)| T1|w(0x41,8)| T0|r(0x41,1)| T1|w(0x3d,40)|",
    // T2 may take T1's slot only in the order that knows T1's end: the lock hands it on in the full one, not in the weak.
    ("T0|fork(T1)| T1|w(V0)| T1|acq(L0)| T1|rel(L0)| T1|end| T0|acq(L0)| T0|rel(L0)| T0|fork(T2)| T2|w(V0)| T2|w(V1)| "
     "T0|w(V1)|"),
    // A thread that was never forked is joined; a thread without events is forked and joined.
    "T1|w(V0)| T0|join(T1)| T0|w(V0)| T0|fork(T2)| T0|join(T2)| T3|r(V0)|",
};

TEST_P(Engines, KeepTheirGuaranteeOnDirectedTraces) {
  const EngineInfo& info = *GetParam();
  for (const std::string_view text : kDirectedTraces) {
    const Trace trace = parse_trace(text).events;
    ASSERT_TRUE(is_well_formed(trace)) << text;
    ASSERT_FALSE(oracle::races(trace, Relation::Hb).empty()) << text;
    EXPECT_EQ(verify(trace, [&] { return make_detector({&info, {}}); }, kGuarantees.at(info.name)), "") << text;
  }
}

// The batches that events come in are the reader's business, not the detector's.
TEST_P(Engines, DoNotSeeBatches) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Trace trace = generate(seed);
    const auto whole = make_detector({GetParam(), {}}), single = make_detector({GetParam(), {}});
    whole->process(trace);
    for (const Event& e : trace) single->process({&e, 1});
    EXPECT_EQ(whole->findings().dynamic_races, single->findings().dynamic_races) << "seed " << seed;
  }
}

std::vector<const EngineInfo*> detectors() {
  std::vector<const EngineInfo*> found;
  std::ranges::copy_if(offline_catalog(), std::back_inserter(found),
                       [](const EngineInfo* e) { return e->kind == StageKind::Detector && e->offline; });
  return found;
}

INSTANTIATE_TEST_SUITE_P(Registry, Engines, testing::ValuesIn(detectors()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace pf
