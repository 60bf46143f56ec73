// Every runtime against the oracle: random traces, played by real threads of a real program (player.cpp) that is built by
// each compiler and forced through the order of the trace, must be reported as each engine guarantees it. The runtime is
// tested here, not only its rules: instrumentation, interceptors, shadow, reports.
//
// PF_ONLINE_TRACES=N sets the number of traces, PF_SEED=S the first seed; a failure prints the seed, the shrunk trace and
// the command to repeat it. PF_NO_SHRINK leaves the traces as they are, PF_KEEP the player's files in the temporary folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "online/realize.h"
#include "property/guarantees.h"
#include "property/random_traces.h"
#include "property/shrink.h"
#include "report/raw.h"
#include "support/text_trace.h"
#include "trace/check.h"
#include "trace/generator.h"
#include "trace/recording.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace pf::online {
namespace {

namespace fs = std::filesystem;
using report::RawAccess;
using report::RawRace;

uint64_t traces() { return from_environment("PF_ONLINE_TRACES", 600); }
uint64_t first_seed() { return from_environment("PF_SEED", 1); }

struct Config {
  std::string engine, compiler, options;  // as the chain has them, each after a comma
  Guarantee guarantee;
  bool periods = false;      // traces with sampling marks
  std::string filter = {};   // in front, as the chain has it
  std::string setting = {};  // of PHOTOFINISH_OPTIONS

  // Of letters and digits.
  std::string name() const {
    std::string name = filter + engine + "_" + compiler + options + setting;
    std::ranges::replace_if(name, [](char c) { return c == ',' || c == '=' || c == '%' || c == ':'; }, '_');
    return name;
  }
  friend std::ostream& operator<<(std::ostream& out, const Config& c) { return out << c.name(); }
};

class Scratch {
 public:
  Scratch() {
    std::string name = fs::temp_directory_path() / "photofinish-online-XXXXXX";
    path_ = mkdtemp(name.data());
    fs::create_directory(path_ / "run");
  }
  ~Scratch() {
    if (std::getenv("PF_KEEP") == nullptr) fs::remove_all(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// --- running the player ---

using Batch = std::vector<Play>;

void put(std::ofstream& out, const auto& value) { out.write(reinterpret_cast<const char*>(&value), sizeof value); }

void write_script(const std::vector<Batch>& batches, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  put(out, uint64_t{batches.size()});
  for (const Batch& batch : batches) {
    put(out, uint64_t{batch.size()});
    for (const Play& play : batch) {
      put(out, play.cast);
      for (const Step& s : play.steps) put(out, s);
    }
  }
}

template <class T>
std::vector<T> read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
  return values;
}

bool run_player(const Config& config, const Scratch& scratch) {
  const std::string player = std::string(PF_ONLINE_FOLDER) + "/player_" + config.compiler;
  const std::string script = scratch / "script", places = scratch / "places", endings = scratch / "endings";
  std::vector<std::string> settings = {
      config.engine == "record" ? "PF_PLAY_ALONE=1" : "PF_PLAY_APART=1", "PHOTOFINISH_RUN=" + scratch / "run",
      "PHOTOFINISH_CHAIN=" + config.filter + config.engine + config.options, "PHOTOFINISH_OPTIONS=" + config.setting,
      std::string("LD_LIBRARY_PATH=") + PF_RUNTIME_FOLDER + "/" + config.engine};
  std::vector<char*> environment;
  for (std::string& s : settings) environment.push_back(s.data());
  for (char** e = environ; *e != nullptr; ++e) {
    if (!std::string_view(*e).starts_with("LD_LIBRARY_PATH=")) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  const char* arguments[] = {player.c_str(), script.c_str(), places.c_str(), endings.c_str(), nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, player.c_str(), nullptr, nullptr, const_cast<char**>(arguments), environment.data()) != 0)
    return false;
  int status = -1;
  waitpid(pid, &status, 0);
  return status == 0;
}

// --- reading its reports ---

// Where the sites are in memory.
class Sites {
 public:
  explicit Sites(const Places& places) {
    for (uint32_t i = 0; i <= kSites; ++i) by_start_[places.sites[i]] = i;
    const auto first = by_start_.begin();
    longest_ = 4 * (std::next(first)->first - first->first);
  }
  std::optional<uint32_t> at(uint64_t pc) const {
    const auto after = by_start_.upper_bound(pc);
    if (after == by_start_.begin()) return {};
    const auto [start, site] = *std::prev(after);
    return pc - start < longest_ ? std::optional(site) : std::nullopt;
  }

 private:
  std::map<uint64_t, uint32_t> by_start_;
  uint64_t longest_;
};

Verdict verdict_of(const RawRace& race) {
  return race.verdict == name(Verdict::Real) ? Verdict::Real : Verdict::Potential;
}

// The reports of one batch, told apart by trace.
class BatchReports {
 public:
  BatchReports(const Batch& batch, const Places& places) : batch_(batch), places_(places), sites_(places) {
    reports_.resize(batch.size());
    created_.push_back({});  // the main thread has no events
    for (std::size_t t = 0; t < batch.size(); ++t) {
      for (std::size_t i = 0; i < batch[t].steps.size(); ++i)
        if (batch[t].steps[i].act == Act::Access) events_[batch[t].steps[i].site] = {t, i};
      for (const ThreadId thread : batch[t].created) created_.push_back({t, thread});
      held_.push_back(oracle::locks_held(batch[t].trace));
    }
    for (uint32_t i = 0; i < kLockKinds * kLocks; ++i) lock_at_[places.locks[i]] = i;
  }

  void read(const std::string& path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      const Result<report::RawLine> parsed = report::parse_raw(line);
      if (!parsed) return lie_everywhere("line: " + line);
      if (const auto* race = std::get_if<RawRace>(&*parsed)) add(*race);
      if (const auto* misuse = std::get_if<report::RawMisuse>(&*parsed)) lie_everywhere("misuse: " + misuse->what);
      if (std::holds_alternative<report::RawLost>(*parsed)) lie_everywhere("lost line");
      if (std::holds_alternative<report::RawSummary>(*parsed)) finished_ = true;
    }
    if (!finished_) lie_everywhere("end: there is no summary");
  }
  void lie_everywhere(const std::string& what) {
    for (Reports& r : reports_) r.lie = what;
  }
  const std::vector<Reports>& all() const { return reports_; }

 private:
  struct Place {
    std::size_t trace, event;
  };
  struct Actor {
    std::size_t trace = ~std::size_t{0};
    ThreadId thread{};
  };

  const Place* place_of(const RawAccess& a) const {
    if (a.stack.empty()) return nullptr;
    const auto site = sites_.at(a.stack.front());
    const auto it = site ? events_.find(*site) : events_.end();
    return it == events_.end() ? nullptr : &it->second;
  }

  void add(const RawRace& race) {
    const Place* first = place_of(race.first);
    const Place* second = place_of(race.second);
    if (first == nullptr || second == nullptr) return lie_everywhere("place: it is no event's");
    if (first->trace != second->trace) {
      reports_[first->trace].lie = reports_[second->trace].lie = "events: they are of two traces";
      return;
    }
    Reports& reports = reports_[first->trace];
    const bool fresh = reports.pairs.try_emplace({first->event, second->event}, verdict_of(race)).second;
    std::string lie = fresh ? check(race.first, *first) : "count: the pair was reported before";
    if (lie.empty()) lie = check(race.second, *second);
    if (lie.empty()) lie = check_address(race, *first, *second);
    if (lie.empty()) lie = check_hidden_by(race, batch_[first->trace], {first->event, second->event});
    if (reports.lie.empty() && !lie.empty())
      reports.lie = lie + " (events " + std::to_string(first->event) + " and " + std::to_string(second->event) + ")";
  }

  std::string check(const RawAccess& a, const Place& place) const {
    const Event& e = batch_[place.trace].trace[place.event];
    if (a.thread >= created_.size() || created_[a.thread].trace != place.trace) return "thread";
    if (created_[a.thread].thread != e.thread) return "thread";
    if (a.op != access_name(e.op) || a.atomic != is_atomic(e.op)) return "operation";
    if (a.size != (e.op == Op::Free ? e.value : e.size)) return "size";
    const auto& held = held_[place.trace][place.event];
    return locks(a, batch_[place.trace]) == std::set(held.begin(), held.end()) ? "" : "locks held";
  }

  std::set<oracle::Held> locks(const RawAccess& a, const Play& play) const {
    std::set<oracle::Held> held;
    for (const report::RawLock& l : a.locks) {
      const auto number = lock_at_.find(l.address);
      const auto lock = number == lock_at_.end() ? std::nullopt : play.lock_of(number->second);
      held.insert({lock.value_or(0), !l.read});
    }
    return held;
  }

  // It lies in both accesses.
  std::string check_address(const RawRace& race, const Place& first, const Place& second) const {
    const Play& play = batch_[first.trace];
    for (const std::size_t event : {first.event, second.event}) {
      const Step& s = play.steps[event];
      if (race.address - (places_.arena + s.object) >= s.size) return "address";
    }
    return {};
  }

  // The named edge lies on a path between the two, and one is named wherever the second thread was taught by a lock of its own or of its parent's.
  std::string check_hidden_by(const RawRace& race, const Play& play, const oracle::Race& pair) const {
    if (!race.by_locks) return race.hidden_by ? "lock: it hid nothing" : "";
    const oracle::Order full(play.trace, oracle::Relation::Hb);
    if (!race.hidden_by) return must_be_named(play.trace, full, pair) ? "lock: it is not named" : "";
    const auto number = lock_at_.find(race.hidden_by->lock);
    const auto lock = number == lock_at_.end() ? std::nullopt : play.lock_of(number->second);
    if (!lock) return "lock: it is none";
    const auto is_step = [&](const Event& e, const report::RawLockStep& s, Op write, Op read) {
      return e.target == *lock && e.op == (s.read ? read : write) && s.thread < created_.size() &&
             created_[s.thread].thread == e.thread;
    };
    for (std::size_t j = 0; j < pair.second; ++j) {
      if (!is_step(play.trace[j], race.hidden_by->acquire, Op::Acquire, Op::ReadAcquire)) continue;
      if (play.trace[j].thread != play.trace[pair.second].thread && !full.before(j, pair.second)) continue;
      for (std::size_t i = 0; i < j; ++i) {
        const Event& e = play.trace[i];
        if (is_step(e, race.hidden_by->release, Op::Release, Op::ReadRelease) && orders(e, play.trace[j]) &&
            full.before(pair.first, i))
          return {};
      }
    }
    return "lock: no such edge";
  }
  // Of an rwlock's several readers each is known for its own accesses only, so it may have none to name.
  static bool must_be_named(std::span<const Event> trace, const oracle::Order& full, const oracle::Race& pair) {
    std::size_t taught = pair.first + 1;
    while (trace[taught].thread != trace[pair.second].thread || !full.before(pair.first, taught)) ++taught;
    for (std::size_t i = pair.first + 1; i < taught; ++i) {
      if (trace[i].op == Op::Release && trace[i].target == trace[taught].target && orders(trace[i], trace[taught]) &&
          full.before(pair.first, i))
        return true;
    }
    return false;
  }
  static bool orders(const Event& release, const Event& acquire) {
    if (acquire.op == Op::Acquire) return release.op == Op::Release || release.op == Op::ReadRelease;
    return acquire.op == Op::ReadAcquire && release.op == Op::Release;
  }

  const Batch& batch_;
  const Places& places_;
  Sites sites_;
  std::map<uint32_t, Place> events_;  // by site
  std::map<uint64_t, uint32_t> lock_at_;
  std::vector<Actor> created_;  // by the runtime's number
  std::vector<std::vector<std::vector<oracle::Held>>> held_;
  std::vector<Reports> reports_;
  bool finished_ = false;
};

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return "end: signal " + std::to_string(WTERMSIG(status));
  return "end: exit code " + std::to_string(WEXITSTATUS(status));
}

// Plays the batches, and gives each to `read`: its number, where its sites are, its raw file and how its process ended. False if the
// player failed.
template <class Read>
bool play(const Config& config, const std::vector<Batch>& batches, Read read) {
  const Scratch scratch;
  write_script(batches, scratch / "script");
  const bool played = run_player(config, scratch);
  const auto places = read_all<Places>(scratch / "places");
  const auto endings = read_all<Ending>(scratch / "endings");
  if (!played || places.size() != 1 || endings.size() < batches.size()) return false;
  std::map<int, int> files;  // of a process id
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const std::string file = std::to_string(endings[i].pid) + "." + std::to_string(files[endings[i].pid]++) + ".raw";
    read(i, places.front(), fs::path(scratch / "run") / file, endings[i].status);
  }
  return true;
}

// The reports of every trace of every batch.
std::vector<std::vector<Reports>> play(const Config& config, const std::vector<Batch>& batches) {
  std::vector<std::vector<Reports>> reports;
  const bool played =
      play(config, batches, [&](std::size_t i, const Places& places, const std::string& file, int status) {
        BatchReports of_batch(batches[i], places);
        of_batch.read(file);
        if (status != 0) of_batch.lie_everywhere(describe_status(status));
        reports.push_back(of_batch.all());
      });
  if (played) return reports;
  reports.clear();
  for (const Batch& batch : batches) reports.emplace_back(batch.size(), Reports{{}, "end: the player failed"});
  return reports;
}

// --- judging ---

std::string judge(const Config& config, const Play& play, const Reports& reports) {
  if (!reports.lie.empty()) return "a report is wrong about its " + reports.lie;
  return config.guarantee(play.trace, reports);
}

// Every third trace is about atomics and fences, whose orders take several events to matter.
Trace generate(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 10 + seed % 60);
  if (seed % 3 == 0) {
    options.atomics = 1;
    options.fences = true;
    options.variables = 1;
    options.locks = options.rwlocks = options.barriers = options.semaphores = 0;
    options.sync_share = 0.7;
    options.race = 0.75;
  }
  Generator generator(options);
  Trace trace;
  for (Event e; generator.next(e);) trace.push_back(e);
  return trace;
}

Trace generate_for(const Config& config, uint64_t seed) {
  return config.periods ? with_periods(generate(seed), seed, true) : generate(seed);
}

// Else nobody knows whether its first accesses are sampled.
bool starts_with_mark(std::span<const Event> trace) {
  return !trace.empty() && (trace.front().op == Op::SamplingOn || trace.front().op == Op::SamplingOff);
}

struct Seeded {
  uint64_t seed;
  Trace trace;
};

// The traces one after the other in one process; what is wrong with the first that is not right, or nothing.
std::string verify(const Config& config, const std::vector<Seeded>& traces) {
  Batch batch;
  uint32_t sites = 0;
  for (const auto& [seed, trace] : traces) {
    if (config.periods && !starts_with_mark(trace)) return {};
    auto play = realize(trace, seed, sites);
    if (!play || sites + play->accesses > kSites) return {};
    sites += play->accesses;
    batch.push_back(std::move(*play));
  }
  const auto reports = play(config, {batch});
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (std::string wrong = judge(config, batch[i], reports.front()[i]); !wrong.empty()) return wrong;
  }
  return {};
}

// What is left of the failing traces: the fewest, and each as short as can be, that fail in the same way.
std::vector<Seeded> shrink_all(const Config& config, std::vector<Seeded> traces) {
  const auto kind = [](const std::string& wrong) { return wrong.substr(0, wrong.find(':')); };
  const std::string first = kind(verify(config, traces));
  const auto fails = [&](const std::vector<Seeded>& some) { return kind(verify(config, some)) == first; };
  for (std::size_t i = traces.size(); i-- > 0 && traces.size() > 1;) {
    std::vector<Seeded> fewer = traces;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (fails(fewer)) traces = std::move(fewer);
  }
  for (std::size_t i = traces.size(); i-- > 0;) {
    traces[i].trace = shrink(traces[i].trace, [&](std::span<const Event> t) {
      std::vector<Seeded> smaller = traces;
      smaller[i].trace.assign(t.begin(), t.end());
      return fails(smaller);
    });
  }
  return traces;
}

// The traces of a batch by their seeds, made small.
std::string describe_failure(const Config& config, const std::vector<uint64_t>& seeds) {
  std::vector<Seeded> traces;
  for (const uint64_t seed : seeds) traces.push_back({seed, generate_for(config, seed)});
  if (verify(config, traces).empty()) return "and not again when repeated\n";
  if (std::getenv("PF_NO_SHRINK") == nullptr) traces = shrink_all(config, std::move(traces));
  std::string text = "shrunk to\n";
  for (const auto& [seed, trace] : traces) text += show(realize(trace, seed, 0)->trace) + "--\n";
  return text + "of which: " + verify(config, traces) + "\n";
}

// What keeps the traces of one process apart; an engine without that gets a process for each.
bool knows_joins(const Config& config) { return config.engine != "eraser"; }

class Online : public testing::TestWithParam<Config> {};

TEST_P(Online, KeepsTheGuaranteeOfItsEngine) {
  const Config& config = GetParam();
  std::vector<Batch> batches;
  std::vector<std::vector<uint64_t>> seeds;
  uint32_t sites = kSites;
  for (uint64_t seed = first_seed(); seed < first_seed() + traces(); ++seed) {
    auto play = realize(generate_for(config, seed), seed, sites);
    ASSERT_TRUE(play) << "seed " << seed << " cannot be played\n" << show(generate(seed));
    if (sites + play->accesses > kSites || !knows_joins(config)) {
      play = realize(generate_for(config, seed), seed, sites = 0);
      batches.emplace_back();
      seeds.emplace_back();
    }
    sites += play->accesses;
    batches.back().push_back(std::move(*play));
    seeds.back().push_back(seed);
  }
  const auto reports = play(config, batches);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (std::size_t t = 0; t < batches[b].size(); ++t) {
      const std::string wrong = judge(config, batches[b][t], reports[b][t]);
      if (wrong.empty()) continue;
      FAIL() << wrong << ", seed " << seeds[b][t] << ", " << describe_failure(config, seeds[b])
             << "repeat: PF_SEED=" << seeds[b].front() << " PF_ONLINE_TRACES=" << seeds[b].size()
             << " online_tests --gtest_filter=*" << config;
    }
  }
}

// What random traces seldom hit, written by hand.
const std::vector<std::string_view> kDirectedTraces = {
    // A thread that takes a dead one's place is not taken for it.
    ("T0|fork(T1)| T1|begin| T1|w(V0)| T1|end| T0|join(T1)| T0|fork(T2)| T2|begin| T2|w(V1)| T0|w(V1)| T0|r(V0)| "
     "T2|end| "
     "T0|join(T2)|"),
    ("T0|fork(T1)| T1|begin| T1|w(V0)| T1|end| T0|join(T1)| T0|fork(T2)| T2|begin| T2|r(V1)| T0|w(V1)| T2|end| "
     "T0|join(T2)|"),
    // Nor does a thread take the place of a dead one that its parent knows nothing of.
    "T0|fork(T1)| T1|begin| T1|w(V0)| T1|end| T0|fork(T2)| T2|begin| T2|w(V0)| T2|end| T0|join(T1)| T0|join(T2)|",
    // A read after a free sees the free.
    "T0|alloc(0x10000000008,16)| T0|w(V0)| T0|free(0x10000000008,16)| T1|r(0x10000000008,8)| T1|w(V0)|",
    // What came before a free meets the free only.
    "T0|alloc(0x10000000008,16)| T0|load(0x10000000008,8,relaxed)| T0|free(0x10000000008,16)| T1|w(0x10000000008,8)|",
    // A new block at the address of an old atomic has nothing to do with it.
    ("T0|w(V0)| T0|store(0x10000000008,release)| T1|alloc(0x10000000008,16)| T1|load(0x10000000008,8,acquire)| "
     "T1|w(V0)|"),
    // The same access in a later epoch is another one, whatever began the epoch.
    "T0|w(V0)| T0|store(V1,release)| T0|w(V0)| T1|load(V1,acquire)| T1|w(V0)|",
    "T0|w(V0)| T0|fence(release)| T0|w(V0)| T0|store(V1,relaxed)| T1|load(V1,acquire)| T1|w(V0)|",
    "T0|r(V0)| T1|r(V0)| T0|r(V0)| T0|store(V1,release)| T0|r(V0)| T1|load(V1,acquire)| T1|w(V0)|",
    // And so is one after the memory got a new life, though the epoch is the same.
    "T0|w(0x10000000008,8)| T0|alloc(0x10000000008,16)| T0|w(0x10000000008,8)| T1|r(0x10000000008,8)|",
    ("T0|alloc(0x10000000008,16)| T0|w(0x10000000008,8)| T0|free(0x10000000008,16)| T0|w(0x10000000008,8)| "
     "T1|r(0x10000000008,8)|"),
    // Bytes that were read are not yet written, though others of the same word are.
    "T0|r(0x10000000008,4)| T0|w(0x1000000000c,4)| T0|w(0x10000000008,4)| T1|r(0x10000000008,4)|",
    // A failed exchange has its own order, and changes nothing.
    "T0|w(V0)| T0|store(V1,release)| T1|load(V1,relaxed)| T1|w(V0)|",
    // Fences order what relaxed atomics carry; one of them alone does not.
    ("T0|w(V0)| T0|w(V1)| T0|fence(release)| T0|w(V2)| T0|store(V3,relaxed)| T1|load(V3,relaxed)| T1|r(V1)| "
     "T1|fence(acquire)| T1|r(V0)| T1|r(V2)|"),
    // A round of a barrier begins before all have left the one before.
    "T0|enter(B0)| T1|enter(B0)| T0|leave(B0)| T0|w(V0)| T0|enter(B0)| T1|leave(B0)| T1|r(V0)| T0|leave(B0)|",
};

TEST_P(Online, KeepsTheGuaranteeOnDirectedTraces) {
  uint64_t seed = 0;
  for (const std::string_view text : kDirectedTraces) {
    const Trace trace = parse_trace(text).events;
    ASSERT_TRUE(realize(trace, seed, 0)) << text;
    ASSERT_FALSE(oracle::races(trace, oracle::Relation::Hb).empty()) << text;
    for (const uint64_t end = seed + 4; seed < end; ++seed)
      EXPECT_EQ(verify(GetParam(), {{seed, trace}}), "") << text << " with seed " << seed;
  }
}

// --- few places ---

// What reports tell apart: where an access was made, and what it was.
struct Deed {
  uint32_t site;
  std::string op;
  bool atomic;
  uint64_t size;
  friend auto operator<=>(const Deed&, const Deed&) = default;
};
// Pairs, in either order; real if any occurrence is.
using Deeds = std::map<std::pair<Deed, Deed>, Verdict>;

void add(Deeds& deeds, const Deed& a, const Deed& b, Verdict verdict) {
  Verdict& known = deeds.try_emplace(std::minmax(a, b), verdict).first->second;
  if (verdict == Verdict::Real) known = Verdict::Real;
}

Deeds reported_deeds(const Places& places, const std::string& path) {
  const Sites sites(places);
  const auto deed = [&](const RawAccess& a) {
    return Deed{sites.at(a.stack.at(0)).value_or(~0U), a.op, a.atomic, a.size};
  };
  Deeds deeds;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const Result<report::RawLine> parsed = report::parse_raw(line);
    const auto* race = parsed ? std::get_if<RawRace>(&*parsed) : nullptr;
    if (race != nullptr) add(deeds, deed(race->first), deed(race->second), verdict_of(*race));
  }
  return deeds;
}

Deeds true_deeds(const Batch& batch, LocksAllow allow) {
  Deeds deeds;
  for (const Play& play : batch) {
    const auto deed = [&](std::size_t i) {
      const Event& e = play.trace[i];
      return Deed{play.steps[i].site, std::string(access_name(e.op)), is_atomic(e.op),
                  e.op == Op::Free ? e.value : e.size};
    };
    for (const auto& [race, verdict] : hybrid_races(play.trace, allow))
      add(deeds, deed(race.first), deed(race.second), verdict);
  }
  return deeds;
}

// The same accesses again and again. Calls `check` with what was reported of each trace, what there is, and its number.
template <class Check>
void play_few_places(const Config& config, LocksAllow allow, Check check) {
  constexpr uint32_t kFew = 3;
  std::vector<Batch> batches;
  for (uint64_t seed = first_seed(); seed < first_seed() + traces(); ++seed) {
    auto play = realize(generate(seed), seed, 0);
    ASSERT_TRUE(play) << "seed " << seed;
    for (Step& s : play->steps) s.site %= kFew;
    batches.push_back({std::move(*play)});
  }
  for (const std::string_view text : kDirectedTraces) {
    auto play = realize(parse_trace(text).events, 0, 0);
    for (Step& s : play->steps) s.site = 0;
    batches.push_back({std::move(*play)});
  }
  const bool played =
      play(config, batches, [&](std::size_t i, const Places& places, const std::string& file, int status) {
        EXPECT_EQ(status, 0);
        Deeds reported = reported_deeds(places, file), truth = true_deeds(batches[i], allow);
        // What is dropped may be the occurrence that makes a pair real: lock order is not in a context.
        if (!config.filter.empty()) {
          for (auto* deeds : {&reported, &truth})
            for (auto& [pair, verdict] : *deeds) verdict = Verdict::Real;
        }
        EXPECT_TRUE(check(reported, truth))
            << "trace " << i << " from seed " << first_seed() << " under " << config << "\n"
            << show(batches[i].front().trace);
      });
  EXPECT_TRUE(played);
}

// Which a runtime leaves out where it can: no pair may be lost by that, nor its verdict.
void test_few_places(const Config& config, LocksAllow allow) { play_few_places(config, allow, std::equal_to<Deeds>{}); }

TEST(FewPlaces, MultiLockLosesNoPair) {
  for (const char* compiler : {"clang", "gcc"}) test_few_places({"multilock", compiler, "", {}}, no_common_lock);
}
TEST(FewPlaces, UnlimitedSimpleLockLosesNoPair) {
  for (const char* compiler : {"clang", "gcc"}) test_few_places({"simplelock", compiler, ",q=0", {}}, one_without_lock);
}

TEST(FewPlaces, NoPairIsLostBehindTree) {
  for (const char* compiler : {"clang", "gcc"}) {
    test_few_places({"multilock", compiler, "", {}, false, "tree:"}, no_common_lock);
    test_few_places({"simplelock", compiler, ",q=0", {}, false, "tree:"}, one_without_lock);
  }
}

// The paper's rule loses some, and raises no false alarm.
TEST(FewPlaces, FewPairsAreLostBehindTreeOfTwoThreads) {
  for (const char* compiler : {"clang", "gcc"}) {
    std::size_t found = 0, there = 0;
    play_few_places({"multilock", compiler, "", {}, false, "tree,threads=2:"}, no_common_lock,
                    [&](const Deeds& reported, const Deeds& truth) {
                      found += reported.size();
                      there += truth.size();
                      return std::ranges::includes(truth, reported);
                    });
    EXPECT_GT(found, there * 9 / 10);
  }
}

// At rates below all, a part of the pairs is found, and nothing else.
TEST(FewPlaces, SamplersRaiseNoFalseAlarm) {
  for (const char* filter : {"literace,burst=1:", "carisma,rate=50%:", "carisma,rate=30%,min=60%:"}) {
    for (const char* compiler : {"clang", "gcc"}) {
      std::size_t found = 0, there = 0;
      play_few_places({"multilock", compiler, "", {}, false, filter}, no_common_lock,
                      [&](const Deeds& reported, const Deeds& truth) {
                        found += reported.size();
                        there += truth.size();
                        return std::ranges::includes(truth, reported);
                      });
      EXPECT_GT(found, there / 20) << filter;
      EXPECT_LT(found, there) << filter;
    }
  }
}

// --- recording ---

// What was recorded of a batch that was played, as a trace; `places` tells which accesses are those of the script.
class RecordedBatch {
 public:
  explicit RecordedBatch(const Batch& batch) : batch_(batch) {}

  // What is wrong with it, or nothing.
  std::string read(const std::string& directory, const Places& places) {
    const Sites sites(places);
    std::map<uint32_t, Place> by_site;
    for (std::size_t t = 0; t < batch_.size(); ++t) {
      for (std::size_t i = 0; i < batch_[t].steps.size(); ++i)
        if (batch_[t].steps[i].act == Act::Access) by_site[batch_[t].steps[i].site] = {t, i};
    }
    Result<Recording> recording = Recording::open(directory);
    if (!recording) return recording.error().message;
    Tidier tidier;
    for (RecordedEvent r; recording->next(r);) {
      tidier.add(r.event, trace_);
      const auto site = is_access(r.event.op) || r.event.op == Op::Free ? sites.at(r.pc) : std::nullopt;
      const auto place = site ? by_site.find(*site) : by_site.end();
      places_.resize(trace_.size(), place == by_site.end() ? kNoPlace : place->second);
    }
    Checker checker;
    for (const Event& e : trace_)
      if (const auto fault = checker.next(e)) return *fault;
    return recording->damaged() == 0 ? "" : "damaged records";
  }

  // Those of each trace by the oracle, as pairs of its events; what is no trace's is wrong.
  std::string find_races(std::vector<std::set<oracle::Race>>& found) const {
    found.assign(batch_.size(), {});
    for (const auto& [first, second] : oracle::races(trace_, oracle::Relation::Hb)) {
      const Place &a = places_[first], &b = places_[second];
      if (a.trace != b.trace || a.trace == kNoPlace.trace)
        return "a race that is none: " + show(std::vector{trace_[first], trace_[second]});
      found[a.trace].insert({a.event, b.event});
    }
    return {};
  }

  // The same races as the traces that were played have, each pair in the order of the trace.
  std::string compare_races() const {
    std::vector<std::set<oracle::Race>> found;
    if (std::string wrong = find_races(found); !wrong.empty()) return wrong;
    for (std::size_t t = 0; t < batch_.size(); ++t) {
      const auto races = oracle::races(batch_[t].trace, oracle::Relation::Hb);
      const std::set<oracle::Race> truth(races.begin(), races.end());
      std::vector<oracle::Race> others;
      std::ranges::set_symmetric_difference(found[t], truth, std::back_inserter(others));
      if (others.empty()) continue;
      const auto& [first, second] = others.front();
      return (truth.contains(others.front()) ? "no race of events " : "a race that is none, of events ") +
             std::to_string(first) + " and " + std::to_string(second) + " of\n" + show(batch_[t].trace);
    }
    return {};
  }

  // A value that was read is the one that was written last, as far as the trace has it and nobody interfered.
  std::string compare_values(uint64_t& compared) const {
    std::set<uint64_t> racy;
    for (const auto& [first, second] : oracle::races(trace_, oracle::Relation::Hb)) {
      for (const Event& e : {trace_[first], trace_[second]})
        for (uint64_t i = 0; i < (e.op == Op::Free ? e.value : e.size); ++i) racy.insert(e.target + i);
    }
    std::map<uint64_t, uint8_t> memory;
    for (const Event& e : trace_) {
      const uint64_t accessed = is_access(e.op) ? e.size : 0;
      const uint64_t size = e.op == Op::Alloc || e.op == Op::Free ? e.value : accessed;
      if (size > kArenaBytes) continue;  // stacks
      for (uint64_t i = 0; i < size; ++i) {
        const auto byte = static_cast<uint8_t>(e.value >> 8 * (i % 8));
        const auto known = memory.find(e.target + i);
        if (writes(e.op) || e.op == Op::Alloc) {
          memory.erase(e.target + i);
          if (e.has_value && !racy.contains(e.target + i)) memory[e.target + i] = byte;
        } else if (e.has_value && known != memory.end()) {
          if (known->second != byte) return "a value that nobody wrote, read by\n" + show(std::vector{e});
          ++compared;
        }
      }
    }
    return {};
  }

 private:
  struct Place {
    std::size_t trace, event;
  };
  static constexpr Place kNoPlace{~std::size_t{0}, 0};

  const Batch& batch_;
  Trace trace_;
  std::vector<Place> places_;  // of its events
};

std::string verify_recording(const Config& config, const Batch& batch, uint64_t& compared) {
  const Scratch scratch;
  write_script({batch}, scratch / "script");
  if (!run_player(config, scratch)) return "the player failed";
  const auto places = read_all<Places>(scratch / "places");
  if (places.size() != 1) return "no places";
  RecordedBatch recorded(batch);
  std::string wrong = recorded.read(scratch / "run", places.front());
  if (wrong.empty()) wrong = recorded.compare_races();
  return wrong.empty() ? recorded.compare_values(compared) : wrong;
}

class Recorded : public testing::TestWithParam<const char*> {};

TEST_P(Recorded, HasTheRacesOfWhatWasPlayed) {
  const Config config{"record", GetParam(), "", {}};
  uint64_t compared = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + traces() / 6; ++seed) {
    auto play = realize(generate(seed), seed, 0);
    ASSERT_TRUE(play) << "seed " << seed;
    // One a process: blocks of two would overlap, as those of a program never do.
    ASSERT_EQ(verify_recording(config, {std::move(*play)}, compared), "") << "seed " << seed;
  }
  EXPECT_GT(compared, 0U);
}

// What the engines at breakpoints report of a run is a race by happens-before in the recording of the same run.
TEST_P(Recorded, ConfirmsWhatWasSeenAtBreakpoints) {
  std::size_t confirmed = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + traces() / 12; ++seed) {
    auto part = realize(generate(seed), seed, 0);
    ASSERT_TRUE(part) << "seed " << seed;
    const Batch batch = {std::move(*part)};
    const Scratch scratch;
    write_script({batch}, scratch / "script");
    ASSERT_TRUE(run_player({"record", GetParam(), "", {}}, scratch));
    RecordedBatch recorded(batch);
    ASSERT_EQ(recorded.read(scratch / "run", read_all<Places>(scratch / "places").at(0)), "") << "seed " << seed;
    std::vector<std::set<oracle::Race>> races;
    ASSERT_EQ(recorded.find_races(races), "") << "seed " << seed;
    for (const auto& [engine, options] : {std::pair{"clockrace", ",rate=100%,overhead=100%"},
                                          std::pair{"clockrace", ",rate=100%,overhead=100%,symmetric"},
                                          std::pair{"collision", ",rate=100%,overhead=100%,delay=50us"}}) {
      const auto reports = play({engine, GetParam(), options, {}}, {batch});
      ASSERT_EQ(reports.front().front().lie, "") << engine << options << ", seed " << seed;
      for (const auto& [pair, verdict] : reports.front().front().pairs) {
        const bool is_race = races.front().contains(pair) || races.front().contains({pair.second, pair.first});
        EXPECT_TRUE(is_race) << engine << options << ", seed " << seed << ", events " << pair.first << " and "
                             << pair.second << " of\n"
                             << show(batch.front().trace);
        confirmed += is_race;
      }
    }
  }
  EXPECT_GT(confirmed, 0U);
}

TEST_P(Recorded, HasTheRacesOfDirectedTraces) {
  uint64_t seed = 0, compared = 0;
  for (const std::string_view text : kDirectedTraces) {
    const Batch batch = {*realize(parse_trace(text).events, seed, 0)};
    EXPECT_EQ(verify_recording({"record", GetParam(), "", {}}, batch, compared), "") << text << " with seed " << seed;
    ++seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, Recorded, testing::Values("clang", "gcc"));

std::vector<Config> configs() {
  std::vector<Config> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(PF_RUNTIME_FOLDER)) {
    if (!fs::exists(entry.path() / "libphotofinish.so")) continue;
    const std::string engine = entry.path().filename();
    if (engine == "record" || engine == "sampler")
      continue;  // the one detects nothing, the other wants no instrumentation
    for (const char* compiler : {"clang", "gcc"}) {
      if (engine == "clockrace" ||
          engine == "collision") {  // they find what the moment lets them, and no more than there is
        const std::string all_of_it = ",rate=100%,overhead=100%";
        all.push_back({engine, compiler, all_of_it + (engine == "collision" ? ",delay=50us" : ""), only_real_races});
        if (engine == "clockrace") all.push_back({engine, compiler, all_of_it + ",symmetric", only_real_races});
        continue;
      }
      if (!kGuarantees.contains(engine))
        continue;  // no engine: it samples programs that are not instrumented, or records
      all.push_back({engine, compiler, "", kGuarantees.at(engine)});
      if (engine == "pacer") {
        all.push_back({engine, compiler, ",rate=100%", racy_variables});
        all.push_back({engine, compiler, ",rate=0", sampled_shortest_races, true});
        // Rest is sought whenever work is told, which then is always.
        all.push_back({engine, compiler, ",rate=0,period=1", sampled_shortest_races, true});
      }
      if (engine == "fasttrack" || engine == "multilock") {
        for (const char* all_of_it : {"literace,burst=1000000:", "carisma,rate=100%:"})
          all.push_back({engine, compiler, "", kGuarantees.at(engine), false, all_of_it});
      }
      if (engine == "fasttrack") {
        all.push_back({engine, compiler, "", only_real_races, false, "carisma,rate=50%:"});
        // Whatever happens, what all know by then is forgotten.
        all.push_back({engine, compiler, "", kGuarantees.at(engine), false, "", "forget=2"});
      }
      if (engine != "simplelock") continue;
      all.push_back({engine, compiler, ",q=0", every_hybrid_race(one_without_lock)});
      all.push_back({engine, compiler, ",q=2", only_hybrid_races(one_without_lock)});
    }
  }
  std::ranges::sort(all, {}, &Config::name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Runtimes, Online, testing::ValuesIn(configs()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace pf::online
