// Seed 004, §4: the examples of BarrierPairs, by number. The figures are drawings in which the calls' contents are unseen; here they are
// traces in which `miss`, `reach` and `back` stand for the calls. The complete program of each is in its comment.
#include <gtest/gtest.h>

#include <set>

#include "offline/catalog.h"
#include "support/text_trace.h"

namespace pf {
namespace {

using Pairs = std::set<std::string>;

// "3-8": the locations of the two accesses.
Pairs races(std::string_view engine, std::string_view text) {
  const TextTrace trace = parse_trace(text);
  const auto predictor = make_detector(parse_chain(engine, offline_catalog())->detector());
  predictor->process(trace.events);
  Pairs found;
  for (const FoundRace& r : predictor->findings().races) {
    const auto site = [&](const RaceAccess& a) { return trace.names.sites()[index(a.site)].location; };
    found.insert(site(r.record.first) + "-" + site(r.record.second));
    EXPECT_GE(r.witness.size(), 2U);
  }
  return found;
}

// T1 writes x and sets y unseen; T2 waits for y unseen and reads x.
TEST(Rdit, Figure41AdHocSynchronizationInMissingMethods) {
  constexpr std::string_view kTrace =
      "T1|w(x)|w T1|miss(m1)| T1|reach(y,8)| T1|back()| T2|miss(m2)| T2|reach(y,8)| T2|back()| T2|r(x)|r";
  EXPECT_EQ(races("hb", kTrace), Pairs{"w-r"});  // the false alarm of those that do not know of the calls
  EXPECT_EQ(races("mc", kTrace), Pairs{"w-r"});
  EXPECT_EQ(races("rdit", kTrace), Pairs{});
}

// Caveat 0: to order all calls as they were is safe but loses the race when they reach different data.
TEST(Rdit, Caveat0CallsThatShareNothingOrderNothing) {
  EXPECT_EQ(races("rdit",
                  "T1|w(x)|w T1|miss(m1)| T1|reach(y,8)| T1|back()| T2|miss(m2)| T2|reach(z,8)| T2|back()| T2|r(x)|r"),
            Pairs{"w-r"});
}

// a(x), b and e(z) of T1, c(x) of T2, d(z), f(z) of T3, T4: calls that share memory are ordered as they were, others are not.
TEST(Rdit, Figure42OnlyCallsThatOverlapAreOrdered) {
  constexpr std::string_view kTrace =
      "T1|w(p)|1 T1|miss(a)| T1|reach(x,8)| T1|back()| T3|w(q)|2 T3|miss(d)| T3|reach(z,8)| T3|back()| "
      "T2|miss(c)| T2|reach(x,8)| T2|back()| T2|r(p)|3 T4|miss(f)| T4|reach(z,8)| T4|back()| T4|r(q)|4 T2|r(q)|5 "
      "T4|r(p)|6";
  EXPECT_EQ(races("rdit", kTrace), (Pairs{"2-5", "1-6"}));
}

// Calls that overlap in time: a of T1 ends only after d of T3 began (it waited for it), and d ends only after a began.
TEST(Rdit, Caveat1Figure43CallsThatOverlapInTime) {
  EXPECT_EQ(
      races("rdit", "T3|w(v)|1 T1|miss(a)| T1|reach(x,8)| T3|miss(d)| T3|reach(x,8)| T1|back()| T1|r(v)|2 T3|back()|"),
      Pairs{});
  EXPECT_EQ(
      races("rdit", "T1|w(v)|1 T1|miss(a)| T1|reach(x,8)| T3|miss(d)| T3|reach(x,8)| T1|back()| T3|back()| T3|r(v)|2"),
      Pairs{});
}

// The accesses to v are in callbacks, seen within the calls: T3 may write only after T1 has set x, unseen, after its read.
TEST(Rdit, Caveat2Figure44EventsWithinCalls) {
  constexpr std::string_view kTrace =
      "T1|miss(a)| T1|reach(x,8)| T3|miss(d)| T3|reach(x,8)| T1|r(v)|1 T3|w(v)|2 T1|back()| T3|back()|";
  EXPECT_EQ(races("mc", kTrace), Pairs{"1-2"});
  EXPECT_EQ(races("rdit", kTrace), Pairs{});
}

// The same with T3's loop over x in plain sight: `while (x != 1)` is a read of what the call wrote.
TEST(Rdit, Caveat3CallsAndOrdinaryEvents) {
  constexpr std::string_view kTrace = "T1|miss(a)| T1|reach(x,8)| T1|r(v)|1 T3|r(x)|9 T3|w(v)|2 T1|back()|";
  EXPECT_EQ(races("mc", kTrace), Pairs{"1-2"});
  EXPECT_EQ(races("rdit", kTrace), Pairs{});
}

// c(y) before f(y, z) before e(z): c and e have nothing in common.
TEST(Rdit, Caveat4Figure45OrderThroughOtherCalls) {
  EXPECT_EQ(
      races("rdit",
            "T2|w(v)|1 T2|miss(c)| T2|reach(y,8)| T2|back()| T4|miss(f)| T4|reach(y,8)| T4|reach(z,8)| T4|back()| "
            "T3|miss(e)| T3|reach(z,8)| T3|back()| T3|r(v)|2"),
      Pairs{});
  // Beyond the paper: calls under way at once hand on what ordinary events bring, z(α) to y(γ), though no call knows of both.
  constexpr std::string_view kRelay =
      "T1|miss(m)| T1|reach(alpha,8)| T1|reach(beta,8)| T2|miss(n)| T2|reach(beta,8)| T2|reach(gamma,8)| "
      "T3|w(v)|1 T3|w(alpha)|3 T4|r(gamma)|4 T4|r(v)|2 T1|back()| T2|back()|";
  EXPECT_EQ(races("rdit", kRelay), Pairs{});
}

// The call may have written another value to x, so the read cannot come from the first write, though the value is the same.
TEST(Rdit, ValuesDoNotCountWhereACallMayHaveWritten) {
  constexpr std::string_view kTrace =
      "T1|w(x)=1|1 T2|miss(m)| T2|reach(x,8)| T2|back()| T3|w(z)=5|a T3|w(x)=1|2 T4|r(x)=1|3 T4|w(z)=5|b";
  EXPECT_EQ(races("rdit", kTrace), Pairs{"2-3"});
  EXPECT_TRUE(races("mc", kTrace).contains("a-b"));
}

// A global that is used within a call, and not passed to it, must be named: then its memory is reached.
TEST(Rdit, Caveat5GlobalsAreReachedIfTheyAreNamed) {
  EXPECT_EQ(races("rdit", "T1|w(x)|w T1|miss(m)| T1|back()| T2|miss(m)| T2|back()| T2|r(x)|r"), Pairs{"w-r"});
  EXPECT_EQ(
      races(
          "rdit",
          "T1|w(x)|w T1|miss(m)| T1|reach(global,8)| T1|back()| T2|miss(m)| T2|reach(global,8)| T2|back()| T2|r(x)|r"),
      Pairs{});
}

// Account. T0 starts T1 and T2, which deposit (lines 4 and 5; 7 and 8), and asks isAlive() until both have ended (line 11); then
// it adds up (16, 17, 19). x1, x2 are the balances, y the total, t1, t2 the thread objects, which end with their threads.
constexpr std::string_view kAccount =
    "T0|w(y)=0|1 T0|w(x1)=0|2 T0|w(x2)=0|2 T0|fork(T1)|3 T0|fork(T2)|3 "
    "T1|begin()| T1|r(x1)=0|4 T1|w(x1)=100|4 T1|r(y)=0|5 T1|w(y)=100|5 T1|w(t1)=1|e1 T1|end()| "
    "T2|begin()| T2|r(x2)=0|7 T2|w(x2)=200|7 T2|r(y)=100|8 T2|w(y)=300|8 T2|w(t2)=1|e2 T2|end()| "
    "T0|miss(isAlive)| T0|reach(t1,8)| T0|back()| T0|miss(isAlive)| T0|reach(t2,8)| T0|back()| "
    "T0|r(x1)=100|16 T0|r(x2)=200|17 T0|r(y)=300|19";

TEST(Rdit, Figures46And47AccountHasOneRace) { EXPECT_EQ(races("rdit", kAccount), Pairs{"5-8"}); }

// "Existing precise algorithms": the true race and false alarms at (4,16), (5,19), (8,19), and with T2's balance (7,17).
TEST(Rdit, Figure46OthersHaveFalseAlarms) {
  EXPECT_EQ(races("mc", kAccount), (Pairs{"5-8", "4-16", "7-17", "5-19", "8-19"}));
  EXPECT_EQ(races("hb", kAccount), (Pairs{"5-8", "4-16", "7-17", "5-19", "8-19"}));
}

}  // namespace
}  // namespace pf
