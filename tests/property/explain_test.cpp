// What a report says of the lock that hid a potential race, against the oracle: the named edge lies on a path of full
// happens-before between the two accesses, and without lock edges there is none.
#include <gtest/gtest.h>

#include "offline/catalog.h"
#include "offline/explain.h"
#include "property/oracle.h"
#include "property/random_traces.h"
#include "support/text_trace.h"

namespace pf {
namespace {

using oracle::Order;
using oracle::Relation;

std::vector<FoundRace> find_and_explain(std::span<const Event> trace, const Chain& chain) {
  const auto filters = make_filters(chain);
  const auto detector = make_detector(chain.detector());
  for (const Event& e : trace) {
    std::span<const Event> passed(&e, 1);
    for (const auto& filter : filters) passed = filter->pass(passed);
    detector->process(passed);
  }
  std::vector<FoundRace> races = detector->findings().races;
  Explainer(chain, races).process(trace);
  return races;
}

bool tells_of(const LockStep& step, std::span<const Event> trace, Op write, Op read, uint64_t lock) {
  if (step.event == 0 || step.event > trace.size()) return false;
  const Event& e = trace[step.event - 1];
  return e.thread == step.thread && e.site == step.site && e.target == lock &&
         e.op == (step.mode == LockMode::Write ? write : read);
}

// The empty string if it is true, else what is wrong with it.
std::string check_edge(const HiddenBy& by, std::span<const Event> trace, const Order& full, const oracle::Race& pair) {
  if (!tells_of(by.release, trace, Op::Release, Op::ReadRelease, by.lock)) return "no such release";
  if (!tells_of(by.acquire, trace, Op::Acquire, Op::ReadAcquire, by.lock)) return "no such acquire";
  if (by.release.event >= by.acquire.event) return "the acquire comes first";
  if (by.release.mode == LockMode::Read && by.acquire.mode == LockMode::Read) return "readers order nothing";
  if (!full.before(pair.first, by.release.event - 1)) return "the first access does not lead to the release";
  if (!full.before(by.acquire.event - 1, pair.second)) return "the acquire does not lead to the second access";
  return {};
}

bool is_of(const RaceAccess& a, const Event& e) { return a.thread == e.thread && a.site == e.site && a.op == e.op; }

// Where sites repeat, a report fits several pairs of events, and must be true of one.
std::string check_race(const FoundRace& race, std::span<const Event> trace, const Order& full, const Order& weak) {
  std::string wrong = "no such race";
  for (const oracle::Race& pair : oracle::conflicts(trace)) {
    if (!is_of(race.record.first, trace[pair.first]) || !is_of(race.record.second, trace[pair.second])) continue;
    const bool only_locks = full.before(pair.first, pair.second) && !weak.before(pair.first, pair.second);
    if (race.hidden_by.has_value() != only_locks) {
      wrong = only_locks ? "not explained" : "locks do not hide it";
    } else {
      wrong = race.hidden_by ? check_edge(*race.hidden_by, trace, full, pair) : "";
    }
    if (wrong.empty()) return {};
  }
  return wrong;
}

struct Case {
  const char* chain;
  Trace (*generate)(uint64_t seed);
};

class Explanations : public testing::TestWithParam<Case> {
 protected:
  std::string check(std::span<const Event> trace) {
    const Order full(trace, Relation::Hb), weak(trace, Relation::WeakHb);
    for (const FoundRace& race : find_and_explain(trace, chain_)) {
      explained_ += race.hidden_by.has_value();
      const std::string wrong = check_race(race, trace, full, weak);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  const Chain chain_ = *parse_chain(GetParam().chain, offline_catalog());
  uint64_t explained_ = 0;
};

TEST_P(Explanations, AreTrue) {
  for (uint64_t seed = first_seed(); seed < first_seed() + traces(); ++seed) {
    const Trace trace = GetParam().generate(seed);
    const auto fails = [&](std::span<const Event> t) { return !check(t).empty(); };
    if (!fails(trace)) continue;
    const Trace small = shrink(trace, fails);
    FAIL() << check(small) << ", seed " << seed << ", shrunk to\n" << show(small);
  }
  EXPECT_GT(explained_, traces() / 10) << "little is hidden in these traces";
}

// Eraser knows no order, so some of its pairs are ordered without locks; the paper's rule of tree drops the first access of
// whole threads.
INSTANTIATE_TEST_SUITE_P(Chains, Explanations,
                         testing::Values(Case{"multilock", generate}, Case{"simplelock", generate},
                                         Case{"acculock", generate}, Case{"eraser", generate},
                                         Case{"multilock", generate_few_sites},
                                         Case{"tree:multilock", generate_few_sites},
                                         Case{"tree,threads=2:multilock", generate_few_sites}));

std::string explanation(std::string_view text, std::string_view chain = "multilock") {
  const TextTrace trace = parse_trace(text);
  const std::vector<FoundRace> races = find_and_explain(trace.events, *parse_chain(chain, offline_catalog()));
  if (races.size() != 1 || !races.front().hidden_by) return "none";
  const HiddenBy& by = *races.front().hidden_by;
  return trace.names.object_name(ObjectKind::Lock, by.lock) + " " + std::to_string(by.release.event) + "-" +
         std::to_string(by.acquire.event);
}

// A pair that was potential when it was first met, and real later: the report is of the real occurrence.
TEST(Explanation, IsNoneForAPairThatIsRealElsewhere) {
  const TextTrace trace =
      parse_trace("T0|w(x)|p T0|acq(l)| T0|rel(l)| T1|acq(l)| T1|w(x)|q T1|acq(m)| T1|rel(m)| T1|rel(l)| T0|w(x)|p");
  const std::vector<FoundRace> races = find_and_explain(trace.events, *parse_chain("multilock", offline_catalog()));
  ASSERT_EQ(races.size(), 1U);
  const FoundRace& race = races.front();
  EXPECT_EQ(race.record.verdict, Verdict::Real);
  EXPECT_EQ(race.record.count, 2U);
  EXPECT_FALSE(race.hidden_by);
  EXPECT_EQ(race.record.first.thread, trace.events[4].thread);
  EXPECT_EQ(race.record.second.thread, trace.events[8].thread);
  EXPECT_EQ(race.first_locks.size(), 1U);
  EXPECT_EQ(race.second_locks.size(), 0U);
}

TEST(Explanation, NamesTheEdge) {
  // Of figure 1 of SimpleLock.
  EXPECT_EQ(explanation("t1|fork(t2)| t1|w(x)| t1|acq(l)| t1|rel(l)| t2|acq(l)| t2|r(x)| t2|rel(l)|"), "l 4-5");
  // The lock went through another thread: the release of the first access's own thread is named.
  EXPECT_EQ(explanation("t1|w(x)| t1|acq(l)| t1|rel(l)| t3|acq(l)| t3|rel(l)| t2|acq(l)| t2|r(x)|"), "l 3-6");
  // Two locks, one after the other: the last edge.
  EXPECT_EQ(explanation("t1|w(x)| t1|acq(l)| t1|rel(l)| t3|acq(l)| t3|acq(m)| t3|rel(m)| t2|acq(m)| t2|r(x)|"),
            "m 6-7");
  // The thread of the second access learns of the first by a fork, its parent by a lock.
  EXPECT_EQ(explanation("t1|w(x)| t1|acq(l)| t1|rel(l)| t3|acq(l)| t3|fork(t2)| t2|r(x)|"), "l 3-4");
  // t3 knows as well, but it is t4's semaphore that t2 waits for.
  EXPECT_EQ(
      explanation("t1|w(x)| t1|acq(l)| t1|rel(l)| t3|acq(l)| t3|rel(l)| t4|acq(l)| t4|post(s)| t2|take(s)| t2|r(x)|"),
      "l 3-6");
  // The filter drops T3's only access, so that the threads after it have other slots than without the filter.
  EXPECT_EQ(explanation("T1|r(y)|p T2|r(y)|p T3|r(y)|p T4|w(x)| T4|acq(l)| T4|rel(l)| T5|acq(l)| T5|r(x)|",
                        "tree,threads=2:multilock"),
            "l 6-7");
  // Readers of an rwlock order the writer after them.
  EXPECT_EQ(explanation("t1|w(x)| t1|racq(l)| t1|rrel(l)| t2|acq(l)| t2|r(x)|"), "l 3-4");
}

}  // namespace
}  // namespace pf
