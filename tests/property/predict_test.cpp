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

// Sections within sections, and little else.
Trace trace_of_sections(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 16 + seed % 12);
  options.threads = 3;
  options.variables = 3;
  options.locks = 2 + seed % 2;
  options.nesting = 2;
  options.discipline = 0.7;
  options.race = 0.25;
  options.barriers = options.semaphores = options.conditions = options.heap_blocks = 0;
  options.fork_join = false;
  return generate(options);
}

// The trace is tried only if the oracle can decide it.
using Check = std::function<std::string(std::span<const Event>, const Races& predictable)>;

std::string check(std::span<const Event> trace, const Check& what) {
  const auto truth = oracle::predictable_races(trace, kMaxStates);
  return truth ? what(trace, Races(truth->begin(), truth->end())) : "";
}

void for_random_traces(uint64_t count, const Check& what, const std::function<Trace(uint64_t)>& make = small_trace) {
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const Trace trace = make(seed);
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
  EXPECT_GT(solved, few() / 100) << "the solver has little to do";
}

// Many pairs of one window that take the solver.
Trace sections_with_values(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 24 + seed % 20);
  options.threads = 2 + seed % 2;
  options.variables = 3;
  options.locks = 2;
  options.nesting = 2;
  options.discipline = 0.7;
  options.race = 0.35;
  options.write_share = 0.6;
  options.fork_join = options.bytes = false;
  options.values = seed % 2 == 0;
  return generate(options);
}

// What refuted one pair may refute the next, if it applies.
TEST(Mc, IsTheExhaustiveSearchOfSections) {
  for_random_traces(
      few(),
      [](std::span<const Event> trace, const Races& truth) -> std::string {
        const Races mc = ask(trace, settings(Method::Mc)).races;
        return mc == truth ? "" : "mc has" + show(mc) + ", the oracle" + show(truth);
      },
      sections_with_values);
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

// Of one lock, one after the other, by two threads, one of them for writing.
bool collide(std::span<const Event> trace, const Section& s, const Section& t) {
  return trace[s.begin].target == trace[t.begin].target && (s.writes || t.writes) &&
         trace[s.begin].thread != trace[t.begin].thread && s.ends && s.end < t.begin;
}

// Rule (c): what happens before p, causally precedes what q happens before. Whether that is news.
bool compose(Matrix& cp, const oracle::Order& hb, size_t p, size_t q) {
  bool grown = false;
  for (size_t x = 0; x < cp.size(); ++x)
    for (size_t y = 0; y < cp.size(); ++y)
      if (!cp[x][y] && (x == p || hb.before(x, p)) && (y == q || hb.before(q, y))) grown = cp[x][y] = true;
  return grown;
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
  for (size_t q = 0; q < n; ++q)
    for (size_t p = 0; p < q; ++p)
      if (trace[p].thread != trace[q].thread && weak.before(p, q) && !cp[p][q]) compose(cp, hb, p, q);
  const auto conflict = [&](const Section& s, const Section& t) {  // rule (a)
    return std::ranges::any_of(conflicts, [&](const Race& r) { return inside(r.first, s) && inside(r.second, t); });
  };
  const auto ordered = [&](const Section& s, const Section& t) {  // rule (b)
    for (size_t x = 0; x < n; ++x)
      for (size_t y = 0; y < n; ++y)
        if (cp[x][y] && inside(x, s) && inside(y, t)) return true;
    return false;
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (const Section& s : sections)
      for (const Section& t : sections) {
        if (!collide(trace, s, t) || cp[s.end][t.begin]) continue;
        if (conflict(s, t) || ordered(s, t)) grown |= compose(cp, hb, s.end, t.begin);
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
  uint64_t cp_beyond_hb = 0, mc_beyond_cp = 0, osr_beyond_syncp = 0, mc_beyond_osr = 0;
  for_random_traces(few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    const Races hb = ask(trace, settings(Method::Hb)).races, cp = ask(trace, settings(Method::Cp)).races,
                syncp = ask(trace, settings(Method::SyncP)).races, osr = ask(trace, settings(Method::Osr)).races;
    cp_beyond_hb += cp.size() - hb.size();
    mc_beyond_cp += truth.size() - cp.size();
    osr_beyond_syncp += osr.size() - syncp.size();
    mc_beyond_osr += truth.size() - osr.size();
    if (!is_subset(hb, cp)) return "hb has" + show(hb) + ", cp" + show(cp);
    if (!is_subset(cp, truth)) return "cp has" + show(cp) + ", the oracle" + show(truth);
    if (!is_subset(syncp, osr)) return "syncp has" + show(syncp) + ", osr" + show(osr);
    return is_subset(osr, truth) ? "" : "osr has" + show(osr) + ", the oracle" + show(truth);
  });
  EXPECT_GT(cp_beyond_hb, 0U);
  EXPECT_GT(mc_beyond_cp, 0U);
  EXPECT_GT(osr_beyond_syncp, 0U);
  EXPECT_GT(mc_beyond_osr, 0U);
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
  // After races(): those of sync-reversals.
  Races reversals() const {
    Races found;
    for (const auto& [race, in] : fewest_)
      if (!found_.contains(race) && can_be_ordered(in)) found.insert(race);
    return found;
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
        if (conflicts_.contains({a, b}) && is_alive(a, in) && is_alive(b, in)) candidates.insert({a, b});
    if (candidates.empty() || !is_closed(in)) return;
    for (const Race& r : candidates)
      if (ends_what_collides(in, r)) remember_if_smaller(r, in);
    if (keeps_locks(in)) found_.merge(candidates);
  }

  // --- sync-reversals ---

  void remember_if_smaller(const Race& r, const std::vector<bool>& in) {
    const auto [known, is_new] = fewest_.try_emplace(r, in);
    if (!is_new && std::ranges::count(in, true) < std::ranges::count(known->second, true)) known->second = in;
  }
  bool collide(const Section& s, const Section& t) const {
    return trace_[s.begin].target == trace_[t.begin].target && (s.writes || t.writes) &&
           trace_[s.begin].thread != trace_[t.begin].thread;
  }
  static bool is_open(const Section& s, const std::vector<bool>& in) { return !(s.ends && in[s.end]); }
  bool ends_what_collides(const std::vector<bool>& in, const Race& r) const {
    for (const Section& s : sections_)
      for (const Section& t : sections_) {
        const ThreadId thread = trace_[s.begin].thread;
        const bool is_around = thread == trace_[r.first].thread || thread == trace_[r.second].thread;
        if (collide(s, t) && in[s.begin] && in[t.begin] && is_open(s, in) && (!is_around || is_open(t, in)))
          return false;
      }
    return true;
  }
  bool keep_order(size_t a, size_t b) const {
    const Event &x = trace_[a], &y = trace_[b];
    if (x.thread == y.thread || weak_.before(a, b) || reads_from(a, b)) return true;
    const auto touches = [](Op op) { return is_access(op) || op == Op::Alloc || op == Op::Free; };
    if (touches(x.op) && touches(y.op)) {
      const auto end = [](const Event& e) { return e.target + (is_access(e.op) ? e.size : e.value); };
      const auto only_reads = [](Op op) { return op == Op::Read || op == Op::AtomicLoad; };
      return x.target < end(y) && y.target < end(x) && !(only_reads(x.op) && only_reads(y.op));
    }
    const ObjectKind kind = object_kind(x.op);
    const bool is_used_in_order =
        kind == ObjectKind::Condition || kind == ObjectKind::Barrier || kind == ObjectKind::Semaphore;
    return is_used_in_order && kind == object_kind(y.op) && x.target == y.target;
  }
  bool can_be_ordered(const std::vector<bool>& in) const {
    const size_t n = trace_.size();
    Matrix before(n, std::vector<bool>(n));
    for (size_t b = 0; b < n; ++b)
      for (size_t a = 0; a < b; ++a) before[a][b] = in[a] && in[b] && keep_order(a, b);
    for (const Section& s : sections_)
      for (const Section& t : sections_) {
        if (!collide(s, t) || !in[s.begin] || !in[t.begin] || is_open(s, in)) continue;
        if (is_open(t, in) || s.end < t.begin) before[s.end][t.begin] = true;
      }
    for (size_t k = 0; k < n; ++k)
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n && before[i][k]; ++j)
          if (before[k][j]) before[i][j] = true;
    for (size_t i = 0; i < n; ++i)
      if (before[i][i]) return false;
    return true;
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
  std::map<Race, std::vector<bool>> fewest_;  // events that a sync-reversal needs
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

TEST(Osr, FindsEverySyncReversal) {
  uint64_t beyond_syncp = 0;
  const Check is_the_definition = [&](std::span<const Event> trace, const Races&) -> std::string {
    if (trace.size() > 32) return "";
    Cuts cuts(trace);
    Races truth = cuts.races();
    const Races reversals = cuts.reversals();
    beyond_syncp += reversals.size();
    truth.insert(reversals.begin(), reversals.end());
    const Races osr = ask(trace, settings(Method::Osr)).races;
    return osr == truth ? "" : "osr has" + show(osr) + ", the definition" + show(truth);
  };
  for_random_traces(few() / 4, is_the_definition);
  for_random_traces(few() / 2, is_the_definition, trace_of_sections);
  EXPECT_GT(beyond_syncp, few() / 200);
}

// The second thread's section comes first and does not end: the solver finds it, the trace's order of sections does not have it.
TEST(Osr, PutsTheSectionAroundAnAccessLast) {
  const Trace trace =
      parse_trace("T1|acq(L1)| T1|w(V1)| T1|rel(L1)| T2|acq(L1)| T2|w(V2)| T2|rel(L1)| T3|acq(L2)| T3|r(V2)| "
                  "T3|rel(L2)| T3|r(V1)|")
          .events;
  EXPECT_EQ(ask(trace, settings(Method::SyncP)).races.contains({1, 9}), false);
  EXPECT_EQ(ask(trace, settings(Method::Osr)).races.contains({1, 9}), true);
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

// The deleted leaves would have told that the second enter of T2 is of the second round, which T0 leaves.
TEST(Rdit, RoundsOfABarrierAreUnknownAfterAMissingCall) {
  const Trace trace =
      parse_trace(
          "T0|enter(B0)| T1|enter(B0)| T2|enter(B0)| T0|miss(F0)| T0|reach(B0,1)| T0|back| T2|miss(F0)| "
          "T2|reach(B0,1)| T2|back| T2|w(V2)| T2|enter(B0)| T1|leave(B0)| T0|enter(B0)| T0|leave(B0)| T0|w(V2)|")
          .events;
  EXPECT_EQ(ask(trace, settings(Method::Rdit)).races, Races{});
}

TEST(Rdit, IsMcWithNothingMissing) {
  for_random_traces(few() / 2, [](std::span<const Event> trace, const Races& truth) -> std::string {
    const Races rdit = ask(trace, settings(Method::Rdit)).races;
    return rdit == truth ? "" : "rdit has" + show(rdit) + ", the oracle" + show(truth);
  });
}

// --- the formula of difference logic, which takes its time ---

Settings by_z3(Method method, uint64_t window = 10'000) {
  return {.method = method, .window = window, .solver = predict::SolverKind::Z3};
}

uint64_t very_few() { return std::max<uint64_t>(60, traces() / 40); }

TEST(Z3, IsMcAndTheExhaustiveSearch) {
  uint64_t found = 0, refuted = 0;
  const Check is_the_same = [&](std::span<const Event> trace, const Races& truth) -> std::string {
    const Answer z3 = ask(trace, by_z3(Method::Mc));
    const Races mc = ask(trace, settings(Method::Mc)).races;
    found += z3.tally.solved;
    refuted += z3.tally.refuted;
    if (z3.tally.unknown != 0) return "unknown";
    if (z3.tally.solved != z3.races.size()) return "a witness that is not of Z3";
    const bool is_same = z3.races == mc && z3.races == truth;
    return is_same ? "" : "Z3 has" + show(z3.races) + ", CaDiCaL" + show(mc) + ", the oracle" + show(truth);
  };
  for_random_traces(very_few(), is_the_same);
  for_random_traces(very_few(), is_the_same, sections_with_values);
  EXPECT_GT(found, very_few());
  EXPECT_GT(refuted, very_few() / 100);
}

TEST(Z3, IsRditWithMethodsMissing) {
  uint64_t found = 0;
  for_random_traces(4 * very_few(), [&](std::span<const Event> trace, const Races& truth) -> std::string {
    const Trace incomplete = Deletion(trace, trace.size() * 7 + 1).run();
    const Answer z3 = ask(incomplete, by_z3(Method::Rdit)), rdit = ask(incomplete, settings(Method::Rdit));
    found += z3.races.size();
    if (!is_subset(by_site(z3, trace), truth)) return "a false alarm\n" + pf::show(incomplete);
    if (z3.tally.unknown != 0) return "unknown\n" + pf::show(incomplete);
    return z3.races == rdit.races
               ? ""
               : "Z3 has" + show(z3.races) + ", CaDiCaL" + show(rdit.races) + "\n" + pf::show(incomplete);
  });
  EXPECT_GT(found, very_few() / 4);
}

TEST(Z3, IsMcInSmallWindows) {
  uint64_t found = 0;
  for_random_traces(very_few(), [&](std::span<const Event> trace, const Races&) -> std::string {
    const uint64_t window = 5 + trace.size() % 10;
    const Races z3 = ask(trace, by_z3(Method::Mc, window)).races, mc = ask(trace, settings(Method::Mc, window)).races;
    found += z3.size();
    return z3 == mc ? "" : "windows of " + std::to_string(window) + ": Z3 has" + show(z3) + ", CaDiCaL" + show(mc);
  });
  EXPECT_GT(found, very_few() / 8);
}

// Too long for the oracle.
TEST(Z3, IsMcOnLongerTraces) {
  const uint64_t count = very_few() / 12;
  uint64_t found = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    GeneratorOptions options = random_options(seed, 120);
    options.unique_sites = true;
    const Trace trace = generate(options);
    const Answer z3 = ask(trace, by_z3(Method::Mc)), mc = ask(trace, settings(Method::Mc));
    found += z3.tally.solved;
    EXPECT_EQ(z3.tally.unknown, 0U) << "seed " << seed;
    EXPECT_EQ(show(z3.races), show(mc.races)) << "seed " << seed;
  }
  EXPECT_GT(found, count);
}

// T0 and T2 have both held the lock since before the trace, which is no run: some acquires are missing. The accesses of T0 and T1 need
// nothing of T2, so it has not let go of the lock, and need not.
TEST(Z3, IsMcWhereTwoThreadsHoldALock) {
  const Trace trace =
      parse_trace("T0|w(V2)| T0|rel(L3)| T1|r(V2)| T2|r(V2)| T2|acq(L3)| T2|rel(L3)| T2|rel(L3)|").events;
  EXPECT_EQ(ask(trace, by_z3(Method::Mc)).races, (Races{{0, 2}}));
  EXPECT_EQ(ask(trace, settings(Method::Mc)).races, (Races{{0, 2}}));
}

// What Z3 leaves open depends on nothing but the trace, as long as its time is not up.
TEST(Z3, GivesTheSameWitnessTwice) {
  const auto witness_places = [](const Answer& answer) {
    std::vector<uint64_t> places;
    for (const Prediction& p : answer.predictions)
      for (const WitnessStep& step : p.witness) places.push_back(step.event);
    return places;
  };
  for (uint64_t seed = first_seed(); seed < first_seed() + 20; ++seed) {
    const Trace trace = sections_with_values(seed);
    EXPECT_EQ(witness_places(ask(trace, by_z3(Method::Mc))), witness_places(ask(trace, by_z3(Method::Mc))))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace pf
