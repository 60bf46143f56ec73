// The predictors against the exhaustive search of the oracle, over many small random traces.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "predict/predictor.h"
#include "property/deletion.h"
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

bool is_subset(const Races& a, const Races& b) { return std::ranges::includes(b, a); }

TEST(Mc, IsTheExhaustiveSearch) {
  uint64_t found = 0, solved = 0;
  for_random_traces(few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    const Answer mc = ask(trace, settings(Method::Mc));
    if (mc.tally.unknown != 0) return "unknown";
    found += mc.races.size();
    solved += mc.tally.solved;
    return mc.races == truth ? "" : "mc has" + show(mc.races) + ", the oracle" + show(truth);
  });
  EXPECT_GT(found, few() / 2);
  EXPECT_GT(solved, few() / 50) << "the solver has little to do";
}

// --- the relations ---

TEST(Hb, RawIsHappensBefore) {
  for_random_traces(few(), [](std::span<const Event> trace, const Races&) -> std::string {
    const auto races = oracle::races(trace, oracle::Relation::Hb);
    const Races truth(races.begin(), races.end());
    const Races raw = ask(trace, {.method = Method::Hb, .raw = true}).races;
    return raw == truth ? "" : "hb,raw has" + show(raw) + ", the oracle" + show(truth);
  });
}

using Matrix = std::vector<std::vector<bool>>;

// From an acquire to the release that lets go of the lock, or to the end.
struct Section {
  size_t begin, end;
  bool ends, writes;
};

std::vector<Section> sections_of(std::span<const Event> trace) {
  std::vector<Section> found;
  const auto held = oracle::locks_held(trace);
  const auto holds = [&](size_t i, uint64_t lock) {
    return std::ranges::any_of(held[i], [&](const oracle::Held& h) { return h.lock == lock; });
  };
  for (size_t i = 0; i < trace.size(); ++i) {
    const bool acquires = trace[i].op == Op::Acquire || trace[i].op == Op::ReadAcquire;
    if (!acquires || holds(i, trace[i].target)) continue;
    Section s{i, trace.size(), false, trace[i].op == Op::Acquire};
    size_t last = i;  // event of the thread
    for (size_t j = i + 1; j < trace.size() && !s.ends; ++j) {
      if (trace[j].thread != trace[i].thread) continue;
      if (last != i && !holds(j, trace[i].target)) s.ends = true, s.end = last;
      last = j;
    }
    const bool is_release = trace[last].op == Op::Release || trace[last].op == Op::ReadRelease;
    if (!s.ends && is_release && trace[last].target == trace[i].target) s.ends = true, s.end = last;
    found.push_back(s);
  }
  return found;
}

// Causally-precedes by its definition, with matrices.
Matrix causally_precedes(std::span<const Event> trace) {
  const oracle::Order hb(trace, oracle::Relation::Hb), weak(trace, oracle::Relation::WeakHb);
  const std::vector<Section> sections = sections_of(trace);
  const auto conflicts = oracle::conflicts(trace);
  const size_t n = trace.size();
  const auto inside = [&](size_t e, const Section& s) {
    return trace[e].thread == trace[s.begin].thread && s.begin <= e && (!s.ends || e <= s.end);
  };
  Matrix cp(n, std::vector<bool>(n));
  const auto add = [&](size_t p, size_t q) {  // rule (c)
    bool grown = false;
    for (size_t x = 0; x < n; ++x)
      for (size_t y = 0; y < n; ++y)
        if (!cp[x][y] && (x == p || hb.before(x, p)) && (y == q || hb.before(q, y))) grown = cp[x][y] = true;
    return grown;
  };
  for (size_t q = 0; q < n; ++q)
    for (size_t p = 0; p < q; ++p)
      if (trace[p].thread != trace[q].thread && weak.before(p, q) && !cp[p][q]) add(p, q);
  for (bool grown = true; grown;) {
    grown = false;
    for (const Section& s : sections)
      for (const Section& t : sections) {
        const bool collide = trace[s.begin].target == trace[t.begin].target && (s.writes || t.writes) &&
                             trace[s.begin].thread != trace[t.begin].thread && s.ends && s.end < t.begin;
        if (!collide || cp[s.end][t.begin]) continue;
        bool applies =
            std::ranges::any_of(conflicts, [&](const Race& r) { return inside(r.first, s) && inside(r.second, t); });
        for (size_t x = 0; x < n && !applies; ++x)
          for (size_t y = 0; y < n && !applies; ++y) applies = cp[x][y] && inside(x, s) && inside(y, t);
        if (applies) grown |= add(s.end, t.begin);
      }
  }
  return cp;
}

TEST(Cp, RawIsTheDefinition) {
  uint64_t beyond_hb = 0;
  for_random_traces(few(), [&](std::span<const Event> trace, const Races&) -> std::string {
    const Matrix cp = causally_precedes(trace);
    Races truth;
    for (const Race& r : oracle::conflicts(trace))
      if (!cp[r.first][r.second]) truth.insert(r);
    const Races raw = ask(trace, {.method = Method::Cp, .raw = true}).races;
    beyond_hb += truth.size() - oracle::races(trace, oracle::Relation::Hb).size();
    return raw == truth ? "" : "cp,raw has" + show(raw) + ", the definition" + show(truth);
  });
  EXPECT_GT(beyond_hb, few() / 50);
}

// Rule (b) alone: the post and the take are in sections that do not conflict, and order them.
TEST(Cp, SectionsThatAreOrderedOrderWhatIsAroundThem) {
  const Trace trace =
      parse_trace("T1|acq(L1)| T1|post(S1)| T1|w(V1)| T1|rel(L1)| T2|acq(L1)| T2|take(S1)| T2|rel(L1)| T2|r(V1)|")
          .events;
  EXPECT_TRUE(causally_precedes(trace)[2][7]);
  EXPECT_EQ(ask(trace, {.method = Method::Cp, .raw = true}).races, Races{});
}

TEST(Predictors, AreNested) {
  uint64_t cp_beyond_hb = 0, mc_beyond_cp = 0, mc_beyond_syncp = 0;
  for_random_traces(few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    const Races hb = ask(trace, settings(Method::Hb)).races, cp = ask(trace, settings(Method::Cp)).races,
                syncp = ask(trace, settings(Method::SyncP)).races;
    cp_beyond_hb += cp.size() - hb.size();
    mc_beyond_cp += truth.size() - cp.size();
    mc_beyond_syncp += truth.size() - syncp.size();
    if (!is_subset(hb, cp)) return "hb has" + show(hb) + ", cp" + show(cp);
    if (!is_subset(cp, truth)) return "cp has" + show(cp) + ", the oracle" + show(truth);
    return is_subset(syncp, truth) ? "" : "syncp has" + show(syncp) + ", the oracle" + show(truth);
  });
  EXPECT_GT(cp_beyond_hb, 0U);
  EXPECT_GT(mc_beyond_cp, 0U);
  EXPECT_GT(mc_beyond_syncp, 0U);
}

TEST(Predictors, AVerdictIsRealIfHappensBeforeLeavesThePairUnordered) {
  for_random_traces(few() / 5, [](std::span<const Event> trace, const Races&) -> std::string {
    const oracle::Order hb(trace, oracle::Relation::Hb);
    for (const Prediction& p : ask(trace, settings(Method::Mc)).predictions) {
      const bool is_real = !hb.before(p.first_event - 1, p.second_event - 1);
      if (is_real != (p.record.verdict == Verdict::Real)) return "verdict";
    }
    return "";
  });
}

// --- sync-preserving races, by trying every set of events that a reordering could run ---

class Cuts {
 public:
  explicit Cuts(std::span<const Event> trace) : trace_(trace), weak_(relaxed(trace), oracle::Relation::WeakHb) {
    for (size_t i = 0; i < trace.size(); ++i) by_thread_[trace[i].thread].push_back(i);
    for (const auto& [thread, events] : by_thread_) threads_.push_back(thread);
    for (const Race& r : oracle::conflicts(trace)) conflicts_.insert(r);
    sections_ = sections_of(trace);
  }

  Races races() {
    std::vector<size_t> cut(threads_.size());
    try_from(0, cut);
    return found_;
  }

 private:
  // What atomics hand on goes with what is read.
  static Trace relaxed(std::span<const Event> trace) {
    Trace copy(trace.begin(), trace.end());
    for (Event& e : copy) e.order = MemoryOrder::Relaxed;
    return copy;
  }

  void try_from(size_t thread, std::vector<size_t>& cut) {
    if (thread == threads_.size()) {
      look_at(cut);
      return;
    }
    for (cut[thread] = 0; cut[thread] <= by_thread_[threads_[thread]].size(); ++cut[thread]) try_from(thread + 1, cut);
  }

  void look_at(const std::vector<size_t>& cut) {
    std::vector<bool> in(trace_.size());
    std::vector<size_t> next;
    for (size_t t = 0; t < threads_.size(); ++t) {
      const auto& events = by_thread_[threads_[t]];
      for (size_t i = 0; i < cut[t]; ++i) in[events[i]] = true;
      if (cut[t] < events.size()) next.push_back(events[cut[t]]);
    }
    Races candidates;
    for (const size_t a : next)
      for (const size_t b : next)
        if (conflicts_.contains({a, b}) && !found_.contains({a, b}) && is_alive(a, in) && is_alive(b, in))
          candidates.insert({a, b});
    if (!candidates.empty() && is_closed(in) && keeps_locks(in)) found_.merge(candidates);
  }

  bool is_alive(size_t event, const std::vector<bool>& in) const {
    for (size_t i = 0; i < trace_.size(); ++i)
      if (trace_[i].op == Op::Fork && trace_[i].target == index(trace_[event].thread) && !in[i]) return false;
    return true;
  }
  bool is_closed(const std::vector<bool>& in) const {
    for (size_t b = 0; b < trace_.size(); ++b)
      for (size_t a = 0; a < b && in[b]; ++a)
        if (!in[a] && (weak_.before(a, b) || reads_from(a, b))) return false;
    return true;
  }
  bool reads_from(size_t a, size_t b) const {
    const auto bytes = [&](size_t i) { return is_access(trace_[i].op) ? trace_[i].size : trace_[i].value; };
    const auto covers = [&](size_t i, uint64_t byte) {
      const bool gives = writes(trace_[i].op) || trace_[i].op == Op::Alloc;
      return gives && trace_[i].target <= byte && byte < trace_[i].target + bytes(i);
    };
    const Op op = trace_[b].op;
    if (op != Op::Read && op != Op::AtomicLoad && op != Op::AtomicRmw) return false;
    for (uint64_t byte = trace_[b].target; byte < trace_[b].target + bytes(b); ++byte) {
      size_t last = b;
      for (size_t i = 0; i < b; ++i)
        if (covers(i, byte)) last = i;
      if (last == a) return true;
    }
    return false;
  }
  // Two sections of a lock that both begin: the first in the trace has ended.
  bool keeps_locks(const std::vector<bool>& in) const {
    for (const Section& s : sections_)
      for (const Section& t : sections_) {
        const bool collide = trace_[s.begin].target == trace_[t.begin].target && (s.writes || t.writes) &&
                             trace_[s.begin].thread != trace_[t.begin].thread && s.begin < t.begin;
        if (collide && in[s.begin] && in[t.begin] && !(s.ends && in[s.end])) return false;
      }
    return true;
  }

  std::span<const Event> trace_;
  oracle::Order weak_;
  std::map<ThreadId, std::vector<size_t>> by_thread_;
  std::vector<ThreadId> threads_;
  Races conflicts_, found_;
  std::vector<Section> sections_;
};

TEST(SyncP, FindsEverySyncPreservingRace) {
  uint64_t found = 0;
  for_random_traces(few() / 2, [&](std::span<const Event> trace, const Races&) -> std::string {
    if (trace.size() > 22) return "";
    const Races truth = Cuts(trace).races(), syncp = ask(trace, settings(Method::SyncP)).races;
    found += truth.size();
    return syncp == truth ? "" : "syncp has" + show(syncp) + ", the definition" + show(truth);
  });
  EXPECT_GT(found, few() / 50);
}

// --- windows ---

TEST(Windows, SmallOnesFindASubset) {
  uint64_t whole = 0, in_parts = 0;
  for_random_traces(few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    whole += truth.size();
    for (const uint64_t size : {3U, 7U, 12U}) {
      const Races parts = ask(trace, settings(Method::Mc, size)).races;
      in_parts += parts.size();
      if (!is_subset(parts, truth))
        return "windows of " + std::to_string(size) + " find" + show(parts) + ", the oracle" + show(truth);
    }
    return "";
  });
  EXPECT_GT(in_parts, whole / 4);
}

// Where prediction is of use: the two halves of a trace have nothing to do with each other, so no pair is lost.
TEST(Windows, CarryWhatIsHeldOver) {
  // The lock is taken in the first window and protects in the second.
  const Trace trace =
      parse_trace("T0|acq(L1)| T0|w(V1)| T0|w(V2)| T0|rel(L1)| T1|acq(L1)| T1|w(V2)| T1|rel(L1)|").events;
  EXPECT_EQ(ask(trace, settings(Method::Mc, 2)).races, Races{});
  const Trace free =
      parse_trace("T0|acq(L1)| T0|w(V1)| T0|w(V2)| T0|rel(L1)| T1|acq(L2)| T1|w(V2)| T1|rel(L2)|").events;
  EXPECT_EQ(ask(free, settings(Method::Mc, 5)).races, Races{});
  EXPECT_EQ(ask(free, settings(Method::Mc, 7)).races, (Races{{2, 5}}));
}

TEST(Predictors, JobsAndShardsDoNotChangeTheResult) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    GeneratorOptions options = random_options(seed, 1000);
    options.unique_sites = false;
    options.sites = 40;
    const Trace trace = generate(options);
    const auto run = [&](uint64_t jobs, uint64_t shard, uint64_t shards) {
      predict::Predictor predictor(
          {.method = Method::Mc, .window = 100, .jobs = jobs, .shard = shard, .shards = shards});
      predictor.process(trace);
      std::vector<std::pair<uint64_t, uint64_t>> races;
      for (const auto& window : predictor.finish())
        for (const Prediction& p : window.races) races.emplace_back(p.first_event, p.second_event);
      return races;
    };
    const auto alone = run(1, 0, 1);
    EXPECT_EQ(alone, run(4, 0, 1)) << "seed " << seed;
    auto merged = run(2, 0, 3);
    for (const uint64_t shard : {1U, 2U}) std::ranges::copy(run(1, shard, 3), std::back_inserter(merged));
    std::ranges::sort(merged);
    auto sorted = alone;
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, merged) << "seed " << seed;
  }
}

// --- traces with methods missing ---

// Pairs of the complete trace: sites are its events.
Races by_site(const Answer& answer, std::span<const Event> trace) {
  const auto at = [&](const RaceAccess& a) {
    return static_cast<size_t>(std::ranges::find(trace, a.site, &Event::site) - trace.begin());
  };
  Races races;
  for (const Prediction& p : answer.predictions) races.insert({at(p.record.first), at(p.record.second)});
  return races;
}

TEST(Rdit, HasNoFalseAlarmWithMethodsMissing) {
  uint64_t found = 0, truths = 0, false_alarms_of_mc = 0;
  for_random_traces(2 * few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    truths += truth.size();
    for (uint64_t n = 1; n <= 3; ++n) {
      const Trace incomplete = Deletion(trace, trace.size() * 7 + n).run();
      const Answer rdit = ask(incomplete, settings(Method::Rdit));
      const Races races = by_site(rdit, trace);
      found += races.size();
      if (rdit.tally.unknown != 0) return "unknown\n" + pf::show(incomplete);
      if (!is_subset(races, truth))
        return "rdit has" + show(races) + ", the complete trace" + show(truth) + "\n" + pf::show(incomplete);
      const Races mc = by_site(ask(incomplete, settings(Method::Mc)), trace);
      false_alarms_of_mc += is_subset(mc, truth) ? 0 : 1;
    }
    return "";
  });
  EXPECT_GT(found, truths / 4) << "of " << 3 * truths;
  EXPECT_GT(false_alarms_of_mc, few() / 50) << "little that matters was deleted";
}

TEST(Rdit, IsMcWithNothingMissing) {
  for_random_traces(few() / 2, [](std::span<const Event> trace, const Races& truth) -> std::string {
    const Races rdit = ask(trace, settings(Method::Rdit)).races;
    return rdit == truth ? "" : "rdit has" + show(rdit) + ", the oracle" + show(truth);
  });
}

}  // namespace
}  // namespace pf
