// Figures and algorithms of the papers that the happens-before detectors are about, by number.
// Seeds: 001 SimpleLock, 003 PACER.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/random.h"
#include "offline/catalog.h"
#include "property/shrink.h"
#include "support/text_trace.h"

namespace pf {
namespace {

// By an engine with its options, as on the command line.
Findings run(std::string_view engine, std::string_view text) {
  const TextTrace trace = parse_trace(text);
  const auto detector = make_detector(parse_chain(engine, offline_catalog())->detector());
  detector->process(trace.events);
  return detector->findings();
}

// "write-read 3-8": the operations and the numbers of the two events.
std::vector<std::string> races(std::string_view engine, std::string_view text) {
  const TextTrace trace = parse_trace(text);
  std::vector<std::string> found;
  for (const FoundRace& r : run(engine, text).races) {
    const auto site = [&](const RaceAccess& a) { return trace.names.sites()[index(a.site)].location; };
    found.push_back(std::string(access_name(r.record.first.op)) + "-" + std::string(access_name(r.record.second.op)) +
                    " " + site(r.record.first) + "-" + site(r.record.second));
  }
  return found;
}

using Races = std::vector<std::string>;
constexpr std::string_view kAllEngines[] = {"generic", "djit", "fasttrack", "shb"};

// The write at 1.3 and the read at 2.2 can race, but here the lock orders them: happens-before is silent.
TEST(SimpleLock, Figure1IsHiddenFromHappensBefore) {
  for (const auto engine : kAllEngines) {
    EXPECT_EQ(races(engine,
                    "t1|w(x)| t1|fork(t2)| t1|w(x)| t1|acq(l1)| t1|w(x)| t1|rel(l1)| t2|acq(l1)| t2|r(x)| t2|rel(l1)|"),
              Races{})
        << engine;
  }
}

// "If write access in line 1.3 is executed after 1.6", they report it.
TEST(SimpleLock, Figure1WithTheWriteLater) {
  for (const auto engine : kAllEngines) {
    EXPECT_EQ(races(engine,
                    "t1|w(x)| t1|fork(t2)| t1|acq(l1)| t1|w(x)| t1|rel(l1)| t1|w(x)| t2|acq(l1)| t2|r(x)| t2|rel(l1)|"),
              (Races{"write-read 6-8"}))
        << engine;
  }
}

std::vector<Verdict> verdicts(std::string_view engine, std::string_view text) {
  std::vector<Verdict> found;
  for (const FoundRace& r : run(engine, text).races) found.push_back(r.record.verdict);
  return found;
}

// The hybrids find it, and say that only the order of the locks hid it.
TEST(SimpleLock, Figure1IsFoundByTheHybrids) {
  constexpr std::string_view kFigure1 =
      "t1|w(x)| t1|fork(t2)| t1|w(x)| t1|acq(l1)| t1|w(x)| t1|rel(l1)| t2|acq(l1)| t2|r(x)| t2|rel(l1)|";
  for (const std::string_view engine : {"simplelock", "multilock"}) {
    EXPECT_EQ(races(engine, kFigure1), (Races{"write-read 3-8"})) << engine;
    EXPECT_EQ(verdicts(engine, kFigure1), (std::vector{Verdict::Potential})) << engine;
  }
}

// Every access holds a lock, but not the same: SimpleLock's counts do not see it, locksets do.
TEST(SimpleLock, Figure2IsLeftToLocksets) {
  constexpr std::string_view kFigure2 =
      "t1|fork(t2)| t1|acq(l1)| t1|w(x)| t1|rel(l1)| t2|acq(l2)| t2|w(x)| t2|rel(l2)|";
  EXPECT_EQ(races("simplelock", kFigure2), Races{});
  for (const std::string_view engine : {"multilock", "acculock"}) {
    EXPECT_EQ(races(engine, kFigure2), (Races{"write-write 3-6"})) << engine;
    EXPECT_EQ(verdicts(engine, kFigure2), (std::vector{Verdict::Real})) << engine;
  }
}

// The queue has the last q clock periods of each thread; unlimited, it has them all. The newest is met first.
TEST(SimpleLock, QueueOfPeriods) {
  constexpr std::string_view kPeriods = "T0|w(x)| T0|post(s)| T0|w(x)| T0|post(s)| T0|w(x)| T1|w(x)|";
  EXPECT_EQ(races("simplelock", kPeriods), (Races{"write-write 5-6"}));
  EXPECT_EQ(races("simplelock,q=2", kPeriods), (Races{"write-write 5-6", "write-write 3-6"}));
  EXPECT_EQ(races("simplelock,q=0", kPeriods), (Races{"write-write 5-6", "write-write 3-6", "write-write 1-6"}));
}

// Algorithms 7 and 8: of a period the access with the fewest locks is kept.
TEST(SimpleLock, FewestLocksOfAPeriod) {
  constexpr std::string_view kLess = "T0|acq(a)| T0|w(x)| T0|rel(a)| T0|w(x)| T1|acq(b)| T1|w(x)|";
  EXPECT_EQ(races("simplelock", kLess), (Races{"write-write 4-6"}));
  constexpr std::string_view kMore = "T0|w(x)| T0|acq(a)| T0|w(x)| T0|rel(a)| T1|acq(b)| T1|w(x)|";
  EXPECT_EQ(races("simplelock", kMore), (Races{"write-write 1-6"}));
}

// Algorithm 8, lines 12 to 15: a write takes the place of the thread's own read of the period that held more locks, and
// (simplelock.h) of one that held as many.
TEST(SimpleLock, WriteRemovesOwnRead) {
  EXPECT_EQ(races("simplelock", "T0|acq(a)| T0|r(x)| T0|rel(a)| T0|w(x)| T1|w(x)|"), (Races{"write-write 4-5"}));
  EXPECT_EQ(races("simplelock", "T0|r(x)| T0|w(x)| T1|w(x)|"), (Races{"write-write 2-3"}));
  EXPECT_EQ(races("simplelock", "T0|r(x)| T0|acq(a)| T0|w(x)| T0|rel(a)| T1|w(x)|"),
            (Races{"write-write 3-5", "read-write 1-5"}));
}

// What AccuLock's sightings are, and when one takes the place of another.
TEST(AccuLock, Sightings) {
  // One reader for each thread, met by a write.
  EXPECT_EQ(races("acculock", "T0|r(x)| T1|r(x)| T2|w(x)|"), (Races{"read-write 1-3", "read-write 2-3"}));
  // A read lock protects reads only.
  EXPECT_EQ(races("acculock", "T0|racq(a)| T0|w(x)| T0|rrel(a)| T1|acq(a)| T1|w(x)|"), (Races{"write-write 2-5"}));
  // In one epoch the sighting with fewer locks stays, whichever came first.
  EXPECT_EQ(races("acculock", "T0|acq(a)| T0|w(x)| T0|rel(a)| T0|w(x)| T1|acq(a)| T1|w(x)|"),
            (Races{"write-write 4-6"}));
  EXPECT_EQ(races("acculock", "T0|w(x)| T0|acq(a)| T0|w(x)| T0|rel(a)| T1|acq(a)| T1|w(x)|"),
            (Races{"write-write 1-6"}));
  // One of a later epoch takes the place of any.
  EXPECT_EQ(races("acculock", "T0|w(x)| T0|post(s)| T0|acq(a)| T0|w(x)| T0|rel(a)| T1|take(s)| T1|acq(b)| T1|w(x)|"),
            (Races{"write-write 4-8"}));
}

// AccuLock keeps one sighting of the last write: the second of two in one epoch replaces one with other locks.
TEST(AccuLock, MissesWhatOneSightingCannotHold) {
  constexpr std::string_view kTrace = "t1|fork(t2)| t1|acq(a)| t1|w(x)| t1|rel(a)| t1|acq(b)| t1|w(x)| t1|rel(b)| "
                                      "t2|acq(b)| t2|w(x)| t2|rel(b)|";
  EXPECT_EQ(races("acculock", kTrace), Races{});
  EXPECT_EQ(races("multilock", kTrace), (Races{"write-write 3-9"}));
}

// Eraser's states, by the rule that each access fires.
TEST(Eraser, States) {
  // Initialization by one thread, then reads by others: no warning, whatever the locks.
  EXPECT_EQ(races("eraser", "T0|w(x)| T0|w(x)| T1|r(x)| T2|r(x)|"), Races{});
  // Shared and written under one lock: no warning; under two different ones: a warning.
  EXPECT_EQ(races("eraser", "T0|acq(a)| T0|w(x)| T0|rel(a)| T1|acq(a)| T1|w(x)| T1|rel(a)|"), Races{});
  EXPECT_EQ(races("eraser", "T0|acq(a)| T0|w(x)| T0|rel(a)| T1|acq(b)| T1|w(x)| T1|rel(b)|"), Races{});
  EXPECT_EQ(races("eraser", "T0|acq(a)| T0|w(x)| T0|rel(a)| T1|acq(b)| T1|w(x)| T1|rel(b)| T0|acq(a)| T0|w(x)|"),
            (Races{"write-write 5-8"}));
  // The candidates shrink with every access: a at the second, none at the third.
  EXPECT_EQ(races("eraser",
                  "T0|w(x)| T1|acq(a)| T1|acq(b)| T1|w(x)| T1|rel(b)| T1|rel(a)| T2|acq(a)| T2|w(x)| T2|rel(a)| "
                  "T1|acq(b)| T1|w(x)|"),
            (Races{"write-write 8-11"}));
  // Shared by reads alone, and then written: modified from there on.
  EXPECT_EQ(races("eraser", "T0|w(x)| T1|r(x)| T2|w(x)|"), (Races{"write-write 1-3"}));
  // Its first owner is one thread of many once it is shared.
  EXPECT_EQ(races("eraser", "T0|w(x)| T1|r(x)| T0|w(x)|"), (Races{"read-write 2-3"}));
  // The latest access of another thread is named, though the thread's own is newer.
  EXPECT_EQ(races("eraser", "T0|w(x)| T1|w(x)| T1|w(x)|"), (Races{"write-write 1-2", "write-write 1-3"}));
  // A read lock protects reads only.
  EXPECT_EQ(races("eraser", "T0|w(x)| T1|racq(a)| T1|r(x)| T1|rrel(a)| T2|racq(a)| T2|w(x)|"),
            (Races{"write-write 1-6"}));
  // The known false alarm: join orders the accesses, and Eraser does not know.
  EXPECT_EQ(races("eraser", "T0|fork(T1)| T1|w(x)| T0|join(T1)| T0|w(x)|"), (Races{"write-write 2-4"}));
  EXPECT_EQ(verdicts("eraser", "T0|fork(T1)| T1|w(x)| T0|join(T1)| T0|w(x)|"), (std::vector{Verdict::Potential}));
}

// --- TREE ---

// The numbers of the events that the filter drops.
std::vector<std::size_t> dropped(const Options& options, std::string_view text) {
  const TextTrace trace = parse_trace(text);
  const auto filter = make_filter({*find_engine("tree", offline_catalog()), options});
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (filter->pass({&trace.events[i], 1}).empty()) numbers.push_back(i + 1);
  }
  return numbers;
}
using Numbers = std::vector<std::size_t>;

// Two loops of T0 and three threads; the four places of the paper are the sites p1 to p4.
constexpr std::string_view kTreeFigure34 = "T0|fork(T1)| T0|fork(T2)| T0|fork(T3)| "
                                           "T0|acq(L1)| T0|w(x)|p1 T0|rel(L1)| T0|r(x)|p2 "
                                           "T0|acq(L2)| T0|w(x)|p1 T0|rel(L2)| T0|r(x)|p2 "
                                           "T0|acq(L3)| T0|w(x)|p1 T0|rel(L3)| T0|r(x)|p2 "
                                           "T1|acq(L1)| T1|w(x)|p3 T1|rel(L1)| T1|w(x)|p4 "
                                           "T2|acq(L2)| T2|w(x)|p3 T2|rel(L2)| T2|w(x)|p4 "
                                           "T3|acq(L3)| T3|w(x)|p3 T3|rel(L3)| T3|w(x)|p4";

TEST(Tree, Figure34EventByEvent) {
  // At p2 the context repeats from the second iteration on; at p1 and p3 the locks differ.
  EXPECT_EQ(dropped({}, kTreeFigure34), (Numbers{11, 15}));
  // The paper's rule also drops the third thread at p4.
  EXPECT_EQ(dropped({{"threads", "2"}}, kTreeFigure34), (Numbers{11, 15, 27}));
  // Lock releases tell the iterations of p2 apart.
  EXPECT_EQ(dropped({{"exact", "on"}}, kTreeFigure34), Numbers{});
}

TEST(Tree, Figure34Has45RacesOnSevenSitePairs) {
  EXPECT_EQ(run("multilock", kTreeFigure34).races.size(), 7);
  std::string unique(kTreeFigure34);  // without places every event is a site of its own
  for (const std::string_view place : {"p1", "p2", "p3", "p4"}) {
    for (std::size_t at; (at = unique.find(place)) != std::string::npos;) unique.erase(at, place.size());
  }
  EXPECT_EQ(run("multilock", unique).races.size(), 45);
}

// Figures 3.1 and 3.2: a loop under one lock repeats its context, under another lock it does not.
TEST(Tree, Figures31And32LoopsUnderLocks) {
  EXPECT_EQ(dropped({},
                    "T0|acq(A)| T0|w(x)|p T0|rel(A)| T0|acq(A)| T0|w(x)|p T0|rel(A)| T0|acq(B)| T0|w(x)|p T0|rel(B)| "
                    "T0|acq(B)| T0|w(x)|p T0|rel(B)|"),
            (Numbers{5, 11}));
  // Reads and writes are told apart, and so are addresses.
  EXPECT_EQ(dropped({}, "T0|w(x)|p T0|r(x)|p T0|w(y)|p T0|w(x)|p T0|r(x)|p"), (Numbers{4, 5}));
}

// Figure 3.3: nine threads write x at p5, the first four under A; T0 reads x at p1, forks, and writes x at p3 under A.
std::string tree_figure33() {
  std::string text;
  for (int i = 1; i <= 9; ++i) {
    const std::string t = "T" + std::to_string(i);
    text += "T0|r(x)|p1 T0|fork(" + t + ")| ";
    text += i < 5 ? t + "|acq(A)| " + t + "|w(x)|p5 " + t + "|rel(A)| " : t + "|w(x)|p5 ";
    text += "T0|acq(A)| T0|w(x)|p3 T0|rel(A)| ";
  }
  return text;
}

// Pairs of places, as the trace names them.
std::set<std::string> site_pairs(std::string_view engine, std::span<const Event> events, const Dictionary& names) {
  const auto detector = make_detector({*find_engine(engine, offline_catalog()), {}});
  detector->process(events);
  std::set<std::string> pairs;
  for (const FoundRace& r : detector->findings().races) {
    const RacePair p = r.record.pair();
    pairs.insert(names.sites()[p.low].location + "-" + names.sites()[p.high].location);
  }
  return pairs;
}

TEST(Tree, Figure33EventByEvent) {
  // Every iteration forks, so T0 is in a new context each time; each other thread writes but once.
  EXPECT_EQ(dropped({}, tree_figure33()), Numbers{});
  // The paper's rule keeps T1 and T2 of those that hold A, T5 and T6 of those that do not.
  EXPECT_EQ(dropped({{"threads", "2"}}, tree_figure33()), (Numbers{20, 28, 47, 53, 59}));  // T3, T4, T7, T8, T9
}

// In the first iteration nothing races. The second one's read races with T1's write (p1, p5); from T5 on the writes do
// (p3, p5), and those threads race with each other. Neither rule loses one of the three.
TEST(Tree, Figure33RacesStayWithEitherRule) {
  const TextTrace trace = parse_trace(tree_figure33());
  const std::set<std::string> expected = {"p1-p5", "p5-p3", "p5-p5"};
  EXPECT_EQ(site_pairs("multilock", trace.events, trace.names), expected);
  EXPECT_EQ(site_pairs("multilock", std::span(trace.events).first(8), trace.names), (std::set<std::string>{}));
  EXPECT_EQ(site_pairs("multilock", std::span(trace.events).first(9), trace.names), (std::set<std::string>{"p1-p5"}));
  for (const char* threads : {"1", "2"}) {
    const auto filter = make_filter({*find_engine("tree", offline_catalog()), {{"threads", threads}}});
    EXPECT_EQ(site_pairs("multilock", filter->pass(trace.events), trace.names), expected) << threads;
  }
}

// Figure 3.5: the contexts at the four places of figure 3.4, told apart by a read of another variable, y at q, in place of
// each access. It is dropped exactly where the same context comes again.
TEST(Tree, Figure35ContextsAtTheFourPlaces) {
  constexpr std::string_view kProbed = "T0|fork(T1)| T0|fork(T2)| T0|fork(T3)| "
                                       "T0|acq(L1)| T0|r(y)|q T0|rel(L1)| T0|r(y)|q "   // {g1 g2 g3 L1}, {g1 g2 g3}
                                       "T0|acq(L2)| T0|r(y)|q T0|rel(L2)| T0|r(y)|q "   // {g1 g2 g3 L2}, {g1 g2 g3}
                                       "T0|acq(L3)| T0|r(y)|q T0|rel(L3)| T0|r(y)|q "   // {g1 g2 g3 L3}, {g1 g2 g3}
                                       "T1|acq(L1)| T1|r(y)|q T1|rel(L1)| T1|r(y)|q "   // {L1}, {}
                                       "T2|acq(L2)| T2|r(y)|q T2|rel(L2)| T2|r(y)|q "   // {L2}, {}
                                       "T3|acq(L3)| T3|r(y)|q T3|rel(L3)| T3|r(y)|q ";  // {L3}, {}
  EXPECT_EQ(dropped({}, kProbed), (Numbers{11, 15}));
  // With the threads left out of it, {} of T3 is that of T1 and T2; T0's messages keep its contexts apart from theirs.
  EXPECT_EQ(dropped({{"threads", "2"}}, kProbed), (Numbers{11, 15, 27}));
}

// Figure 3.6: what is known of the four places after figure 3.4. The figure's events are 1 to 27.
TEST(Tree, Figure36HistoriesOfTheFourPlaces) {
  const auto after = [](std::string_view more) {
    Numbers numbers = dropped({{"threads", "2"}}, std::string(kTreeFigure34) + " " + std::string(more));
    std::erase_if(numbers, [](std::size_t n) { return n <= 27; });
    return numbers;
  };
  // (a) p1: below g1 g2 g3 a branch for each of L1, L2, L3, each seen by T0; none for L4.
  EXPECT_EQ(after("T0|acq(L1)| T0|w(x)|p1 T0|rel(L1)| T0|acq(L4)| T0|w(x)|p1 T0|rel(L4)|"), Numbers{29});
  EXPECT_EQ(after("T0|acq(L3)| T0|w(x)|p1 T0|rel(L3)| T0|acq(L2)| T0|w(x)|p1 T0|rel(L2)|"), (Numbers{29, 32}));
  // (b) p2: g1 g2 g3, seen by T0; after one more message it is another branch.
  EXPECT_EQ(after("T0|r(x)|p2 T0|fork(T4)| T0|r(x)|p2"), Numbers{28});
  // (c) p3: a branch for each lock with one thread: T1 is known at L1; at L2 it is the second, and then the stack is full.
  EXPECT_EQ(after("T1|acq(L1)| T1|w(x)|p3 T1|rel(L1)| T1|acq(L2)| T1|w(x)|p3 T1|rel(L2)| T3|acq(L2)| T3|w(x)|p3"),
            (Numbers{29, 35}));
  // (d) p4: no message, no lock, seen by T1 and T2: full, for whoever comes.
  EXPECT_EQ(after("T1|w(x)|p4 T2|w(x)|p4 T3|w(x)|p4 T4|w(x)|p4"), (Numbers{28, 29, 30, 31}));
}

// A message in between is a new context; figure 3.7's array loop without synchronization is one context.
TEST(Tree, MessagesAndSpans) {
  EXPECT_EQ(dropped({}, "T0|w(x)|p T0|fork(T1)| T0|w(x)|p T0|notify(c)| T0|w(x)|p T0|post(s)| T0|w(x)|p"), Numbers{});
  // Algorithm 1, line 19: what is received is in the context, too.
  EXPECT_EQ(dropped({}, "T0|post(s)| T1|w(x)|p T1|take(s)| T1|w(x)|p T1|w(x)|p"), (Numbers{5}));
  EXPECT_EQ(dropped({}, "T0|store(f,release)| T1|w(x)|p T1|load(f,acquire)| T1|w(x)|p T1|w(x)|p"), (Numbers{5}));
  // The relaxed store hands on what was before the fence: T1's read races with the second write alone.
  constexpr std::string_view kFence =
      "T0|w(x)|p T0|fence(release)| T0|w(x)|p T0|store(f,relaxed)| T1|load(f,acquire)| T1|r(x)|q";
  EXPECT_EQ(dropped({}, kFence), Numbers{});
  EXPECT_EQ(races("multilock", kFence), (Races{"write-read p-q"}));
  EXPECT_EQ(dropped({}, "T0|w(a)|p T0|w(b)|p T0|w(a)|p T0|w(b)|p T0|w(a)|p"), (Numbers{3, 4, 5}));
  EXPECT_EQ(dropped({}, "T0|w(0x40)|p T0|free(0x40,8)| T0|alloc(0x40,8)| T0|w(0x40)|p T0|w(0x40)|p"), (Numbers{5}));
  EXPECT_EQ(dropped({}, "T0|w(0x40)|p T0|free(0x44,8)| T0|w(0x40)|p T0|w(0x40)|p"), (Numbers{4}));
}

// Where plain tree loses a FastTrack report, and the paper's rule a race of any detector (docs/engines/tree.md).
TEST(Tree, KnownLosses) {
  constexpr std::string_view kHandOver = "T0|w(x)|1 T0|acq(L)|2 T0|rel(L)|3 T0|w(x)|1 T1|acq(L)|4 T1|w(x)|5";
  EXPECT_EQ(races("fasttrack", kHandOver), (Races{"write-write 1-5"}));
  EXPECT_EQ(dropped({}, kHandOver), (Numbers{4}));
  EXPECT_EQ(dropped({{"exact", "on"}}, kHandOver), Numbers{});
  // No event of it can be left out.
  const TextTrace trace = parse_trace(kHandOver);
  const auto loses = [&](std::span<const Event> events) {
    const auto filter = make_filter({*find_engine("tree", offline_catalog()), {}});
    return site_pairs("fasttrack", events, trace.names) != site_pairs("fasttrack", filter->pass(events), trace.names);
  };
  EXPECT_TRUE(loses(trace.events));
  EXPECT_EQ(shrink(trace.events, loses).size(), trace.events.size());
  constexpr std::string_view kFutures =
      "T0|fork(T1)|1 T0|fork(T2)|2 T0|fork(T3)|3 T1|acq(L)|4 T1|w(x)|5 T1|rel(L)|6 T2|acq(L)|4 T2|w(x)|5 T2|rel(L)|6 "
      "T3|acq(L)|4 T3|w(x)|5 T3|rel(L)|6 T0|join(T1)|7 T0|join(T2)|8 T0|w(x)|9";
  EXPECT_EQ(races("multilock", kFutures), (Races{"write-write 5-9"}));
  EXPECT_EQ(dropped({}, kFutures), Numbers{});
  EXPECT_EQ(dropped({{"threads", "2"}}, kFutures), (Numbers{11}));
}

// Figure 1 of PACER without sampling: t2's read of x is ordered before t1's write, and both race with t3's write.
// FastTrack has dropped the read by then; the full clocks still know it.
constexpr std::string_view kPacerFigure1 = "t2|r(x)| t2|acq(m)| t2|rel(m)| t1|acq(m)| t1|w(x)| t1|rel(m)| t3|w(x)|";
TEST(Pacer, Figure1WithoutSampling) {
  EXPECT_EQ(races("fasttrack", kPacerFigure1), (Races{"write-write 5-7"}));
  EXPECT_EQ(races("djit", kPacerFigure1), (Races{"write-write 5-7", "read-write 1-7"}));
  EXPECT_EQ(races("generic", kPacerFigure1), (Races{"write-write 5-7", "read-write 1-7"}));
}

// Figure 1 with its period: the race on y is reported, for its write was sampled; the one on x is not, for t1's write, the last
// access that races with t3's, was not.
TEST(Pacer, Figure1) {
  constexpr std::string_view kBegin = "t2|sample| t1|w(y)| t2|r(x)| t2|acq(m)| t2|rel(m)| ";
  constexpr std::string_view kEnd = "t1|acq(m)| t1|w(x)| t1|rel(m)| t3|w(x)| t2|r(y)|";
  EXPECT_EQ(races("pacer", std::string(kBegin) + "t2|rest| " + std::string(kEnd)), (Races{"write-read 2-11"}));
  // "If W_x at t1 had executed in a sampling period, Pacer would have reported the race."
  EXPECT_EQ(races("pacer", std::string(kBegin) + std::string(kEnd) + " t2|rest|"),
            (Races{"write-write 7-9", "write-read 2-10"}));
}

using Fired = std::map<std::string_view, uint64_t>;

// The rules of accesses that fired, or the joins and copies of clocks.
Fired fired(std::string_view text, bool clocks) {
  Fired counts;
  for (const RuleCount& r : run("pacer", text).rules) {
    if (r.count != 0 && r.rule.starts_with("clocks") == clocks) counts[r.rule] = r.count;
  }
  return counts;
}
constexpr std::string_view kQuick = ClockOperations::kNames[0][0], kWhole = ClockOperations::kNames[0][1];

// Figure 2: between periods t3's releases leave its clock as it is, so of t2's two acquires the first takes it in and the second
// finds the version that it has.
TEST(Pacer, Figure2) {
  constexpr std::string_view kReleases = "t3|sample| t3|w(x)| t3|rest| t3|rel(m)| t3|rel(l)| ";
  const auto clocks = [&](std::string_view more) { return fired(std::string(kReleases) + std::string(more), true); };
  EXPECT_EQ(clocks(""), (Fired{{kQuick, 2}}));  // nothing was there
  // Of an acquire there are two joins, for what writers and what readers of the lock left.
  EXPECT_EQ(clocks("t2|acq(m)|"), (Fired{{kQuick, 3}, {kWhole, 1}}));
  EXPECT_EQ(clocks("t2|acq(m)| t2|acq(l)|"), (Fired{{kQuick, 5}, {kWhole, 1}}));
  EXPECT_EQ(clocks("t2|acq(m)| t2|acq(l)| t2|rel(l)| t2|rel(m)|"), (Fired{{kQuick, 7}, {kWhole, 1}}));
  EXPECT_EQ(races("pacer", std::string(kReleases) + "t2|acq(m)| t2|r(x)|"), Races{});
}

struct PacerCase {
  std::string_view text;
  Fired fired;
  Races races = {};
};

// Table 4, each rule in a period and outside of one; where its condition "race-free" does not hold, there is a report.
TEST(Pacer, Table4RuleByRule) {
  for (const PacerCase& c : std::initializer_list<PacerCase>{
           // (1)
           {"T0|sample| T0|r(x)| T0|r(x)|", {{"read exclusive", 1}, {"read same epoch", 1}}},
           {"T0|sample| T0|r(x)| T0|rest| T0|r(x)|", {{"read exclusive", 1}, {"read same epoch", 1}}},
           // (2): outside, nothing is left of the read.
           {"T0|sample| T0|r(x)| T0|rel(m)| T0|r(x)|", {{"read exclusive", 2}}},
           {"T0|sample| T0|r(x)| T0|rel(m)| T0|rest| T0|r(x)| T0|r(x)|",
            {{"read exclusive", 1}, {"reads dropped", 1}, {"not sampled", 1}}},
           {"T0|sample| T0|w(x)| T1|r(x)|", {{"write exclusive", 1}, {"read exclusive", 1}}, {"write-read 2-3"}},
           {"T0|sample| T0|w(x)| T0|rest| T1|r(x)|",
            {{"write exclusive", 1}, {"reads dropped", 1}},
            {"write-read 2-4"}},
           // (3): outside, the thread's own read is dropped, and the others stay.
           {"T0|sample| T0|r(x)| T1|r(x)| T2|r(x)|", {{"read exclusive", 1}, {"read share", 1}, {"read shared", 1}}},
           {"T0|sample| T0|r(x)| T1|r(x)| T0|rel(m)| T0|rest| T0|r(x)| T1|r(x)|",
            {{"read exclusive", 1}, {"read share", 1}, {"reads dropped", 1}, {"read same epoch", 1}}},
           {"T0|sample| T0|r(x)| T0|rest| T1|r(x)| T1|w(x)|",
            {{"read exclusive", 1}, {"reads dropped", 1}, {"write dropped", 1}},
            {"read-write 2-5"}},
           // (4)
           {"T0|sample| T0|w(x)| T0|w(x)|", {{"write exclusive", 1}, {"write same epoch", 1}}},
           {"T0|sample| T0|w(x)| T0|rest| T0|w(x)|", {{"write exclusive", 1}, {"write same epoch", 1}}},
           // (5): outside, nothing is left at all.
           {"T0|sample| T0|r(x)| T0|w(x)|", {{"read exclusive", 1}, {"write exclusive", 1}}},
           {"T0|sample| T0|r(x)| T0|w(x)| T0|rel(m)| T0|rest| T0|w(x)| T0|r(x)| T0|w(x)|",
            {{"read exclusive", 1}, {"write exclusive", 1}, {"write dropped", 1}, {"not sampled", 2}}},
           {"T0|sample| T0|w(x)| T0|rest| T1|w(x)|",
            {{"write exclusive", 1}, {"write dropped", 1}},
            {"write-write 2-4"}},
           {"T0|sample| T0|r(x)| T0|rest| T1|w(x)|", {{"read exclusive", 1}, {"write dropped", 1}}, {"read-write 2-4"}},
       }) {
    EXPECT_EQ(fired(c.text, false), c.fired) << c.text;
    EXPECT_EQ(races("pacer", c.text), c.races) << c.text;
  }
}

// Table 5: a period begins with a tick of every thread (1), and ends without one (2). A tick shows in the next access.
TEST(Pacer, Table5RuleByRule) {
  for (const auto& [text, fires] : std::initializer_list<std::pair<std::string_view, Fired>>{
           {"T0|sample| T0|w(x)| T1|r(y)| T0|rest| T0|sample| T0|w(x)| T1|r(y)|",
            {{"write exclusive", 2}, {"read exclusive", 2}}},
           {"T0|sample| T0|w(x)| T1|r(y)| T0|rest| T0|w(x)| T1|r(y)|",
            {{"write exclusive", 1}, {"read exclusive", 1}, {"write same epoch", 1}, {"read same epoch", 1}}},
       }) {
    EXPECT_EQ(fired(text, false), fires) << text;
  }
}

// Table 6: what each action orders, in a period and outside of one; and that what comes after its inc() is not ordered.
TEST(Pacer, Table6RuleByRule) {
  for (const auto& [text, expected] : std::initializer_list<std::pair<std::string_view, Races>>{
           // (1), (2): acquire, release
           {"T0|sample| T0|w(x)| T0|rel(m)| T1|acq(m)| T1|r(x)|", {}},
           {"T0|sample| T0|w(x)| T0|rest| T0|rel(m)| T1|acq(m)| T1|r(x)|", {}},
           {"T0|sample| T0|rel(m)| T0|w(x)| T1|acq(m)| T1|r(x)|", {"write-read 3-5"}},
           // (3): fork
           {"T0|sample| T0|w(x)| T0|fork(T1)| T1|r(x)|", {}},
           {"T0|sample| T0|w(x)| T0|rest| T0|fork(T1)| T1|r(x)|", {}},
           {"T0|sample| T0|fork(T1)| T0|w(x)| T1|r(x)|", {"write-read 3-4"}},
           // (4): join
           {"T0|sample| T0|fork(T1)| T1|w(x)| T1|end| T0|join(T1)| T0|r(x)|", {}},
           {"T0|sample| T0|fork(T1)| T1|w(x)| T0|rest| T1|end| T0|join(T1)| T0|r(x)|", {}},
           // (5), (6): volatiles
           {"T0|sample| T0|w(x)| T0|store(v,release)| T1|load(v,acquire)| T1|r(x)|", {}},
           {"T0|sample| T0|w(x)| T0|rest| T0|store(v,release)| T1|load(v,acquire)| T1|r(x)|", {}},
           {"T0|sample| T0|store(v,release)| T0|w(x)| T1|load(v,acquire)| T1|r(x)|", {"write-read 3-5"}},
       }) {
    EXPECT_EQ(races("pacer", text), expected) << text;
  }
}

// Table 7. A volatile that several threads write between periods gathers what they know, whoever wrote last: algorithm 16; here it takes
// a read-modify-write, since a plain store of C++ begins anew.
TEST(Pacer, Table7RuleByRule) {
  // (1)-(3): a copy has all of the clock; a tick after it, in periods only.
  EXPECT_EQ(fired("T0|sample| T0|w(x)| T0|rel(m)| T0|w(x)|", false), (Fired{{"write exclusive", 2}}));
  EXPECT_EQ(fired("T0|sample| T0|w(x)| T0|rest| T0|rel(m)| T0|w(x)|", false),
            (Fired{{"write exclusive", 1}, {"write same epoch", 1}}));
  // (4): the same version again. (6): something new. (5): another version, of which nothing is new: T0 has learned what T1 knew, and T1
  // knows more.
  const std::string six = "T0|rest| T0|rel(m)| T1|acq(m)| ";
  EXPECT_EQ(fired(six, true), (Fired{{kQuick, 2}, {kWhole, 1}}));
  EXPECT_EQ(fired(six + "T1|acq(m)|", true), (Fired{{kQuick, 4}, {kWhole, 1}}));
  const std::string five = six + "T2|rel(k)| T1|acq(k)| T0|acq(k)| T0|rel(l)| T1|acq(l)| ";
  EXPECT_EQ(fired(five, true), (Fired{{kQuick, 7}, {kWhole, 4}}));
  EXPECT_EQ(fired(five + "T1|acq(l)|", true), (Fired{{kQuick, 9}, {kWhole, 4}}));
  // Not in the paper: where both know the same, they go by one version.
  EXPECT_EQ(fired(six + "T1|rel(k)| T0|acq(k)| T0|rel(l)| T1|acq(l)| ", true), (Fired{{kQuick, 7}, {kWhole, 2}}));
  // (7)-(9)
  EXPECT_EQ(races("pacer", "T0|sample| T0|w(x)| T1|w(y)| T0|rest| T0|store(v,release)| T1|rmw(v,release)| "
                           "T2|load(v,acquire)| T2|r(x)| T2|r(y)|"),
            Races{});
  EXPECT_EQ(races("pacer", "T0|sample| T0|w(x)| T1|w(y)| T0|store(v,release)| T1|rmw(v,release)| T2|load(v,acquire)| "
                           "T2|r(x)| T2|r(y)|"),
            Races{});
}

// Table 3: between periods nearly all joins and copies are O(1), where threads talk to each other all the time.
TEST(Pacer, Table3ClocksAreSeldomLookedThrough) {
  std::string text;
  for (int i = 1; i < 16; ++i) text += "T0|fork(T" + std::to_string(i) + ")| ";
  Random random(1);
  for (int i = 0; i < 40000; ++i) {
    const std::string thread = "T" + std::to_string(random.below(16)), lock = "L" + std::to_string(random.below(8));
    text +=
        thread + "|acq(" + lock + ")| " + thread + "|w(V" + lock.substr(1) + ")| " + thread + "|rel(" + lock + ")| ";
  }
  uint64_t counts[2][2] = {};
  for (const RuleCount& r : run("pacer,rate=3%,period=2000", text).rules) {
    for (const bool in_period : {false, true}) {
      for (const bool whole : {false, true}) {
        if (r.rule == ClockOperations::kNames[in_period][whole]) counts[in_period][whole] = r.count;
      }
    }
  }
  EXPECT_GT(counts[1][1], 100U) << "no period was drawn";
  EXPECT_GT(counts[0][0], 100000U);
  EXPECT_LT(static_cast<double>(counts[0][1]), 0.01 * static_cast<double>(counts[0][0]));
}

// Algorithms 7 and 8 of PACER, branch by branch, on one variable.
TEST(FastTrack, Algorithms7And8RuleByRule) {
  const std::map<std::string_view, std::vector<std::string_view>> kFires = {
      {"T0|w(x)|", {"write exclusive"}},
      {"T0|w(x)| T0|w(x)|", {"write exclusive", "write same epoch"}},
      {"T0|r(x)| T0|r(x)|", {"read exclusive", "read same epoch"}},
      {"T0|r(x)| T0|fork(T1)| T1|r(x)|", {"read exclusive", "read exclusive"}},
      {"T0|r(x)| T1|r(x)|", {"read exclusive", "read share"}},
      {"T0|r(x)| T1|r(x)| T2|r(x)|", {"read exclusive", "read share", "read shared"}},
      {"T0|r(x)| T1|r(x)| T0|join(T1)| T0|w(x)|", {"read exclusive", "read share", "write shared"}},
      {"T0|r(x)| T1|r(x)| T0|join(T1)| T0|w(x)| T0|r(x)|",
       {"read exclusive", "read share", "write shared", "read exclusive"}},
      {"T0|load(x,relaxed)| T0|store(x,relaxed)|", {"atomic read", "atomic write"}},
      {"T0|load(x,relaxed)| T0|load(x,relaxed)|", {"atomic read", "atomic same epoch"}},
  };
  for (const auto& [text, fires] : kFires) {
    std::map<std::string_view, uint64_t> expected, counted;
    for (const auto rule : fires) ++expected[rule];
    for (const RuleCount& r : run("fasttrack", text).rules) {
      if (r.count != 0) counted[r.rule] = r.count;
    }
    EXPECT_EQ(counted, expected) << text;
    EXPECT_EQ(races("fasttrack", text), Races{}) << text;
  }
}

// Standalone fences: no alarm where C++ orders, an alarm where it does not.
TEST(Fences, MessagePassing) {
  for (const auto engine : kAllEngines) {
    EXPECT_EQ(races(engine, "T0|w(x)| T0|fence(release)| T0|store(f,relaxed)| T1|load(f,relaxed)| T1|fence(acquire)| "
                            "T1|r(x)|"),
              Races{})
        << engine;
  }
  for (const std::string_view engine : {"generic", "djit", "fasttrack"}) {
    EXPECT_EQ(races(engine, "T0|w(x)| T0|fence(release)| T0|store(f,relaxed)| T1|load(f,relaxed)| T1|r(x)|"),
              (Races{"write-read 1-5"}))
        << engine;
    EXPECT_EQ(races(engine, "T0|w(x)| T0|store(f,relaxed)| T1|load(f,relaxed)| T1|fence(acquire)| T1|r(x)|"),
              (Races{"write-read 1-5"}))
        << engine;
  }
}

}  // namespace
}  // namespace pf
