// photofinish analyze: runs chains over recorded traces and reports their races.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <deque>
#include <filesystem>

#include "cli/cli.h"
#include "cli/naming.h"
#include "cli/progress.h"
#include "offline/catalog.h"
#include "offline/explain.h"
#include "offline/prediction.h"
#include "report/compare.h"
#include "report/renderer.h"
#include "trace/source.h"

namespace pf::cli {
namespace {

using Seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

// The processor time of this thread: what a chain costs, whatever else the machine does.
Seconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

struct Request {
  std::vector<std::string> files;
  std::vector<std::string> chains;
  bool json = false;
  bool salvage = false;
  std::string shard;  // "0/4"; empty: all windows
};

struct RunningChain {
  RunningChain(Chain which, Shard shard)
      : chain(std::move(which)), filters(make_filters(chain)),
        detector(is_predictor(*chain.detector().info) ? make_predictor(chain.detector(), shard)
                                                      : make_detector(chain.detector())) {}
  void process(std::span<const Event> batch) {
    for (const auto& filter : filters) batch = filter->pass(batch);
    detector->process(batch);
  }

  Chain chain;
  Filters filters;
  std::unique_ptr<DetectorStage> detector;
  Findings findings;     // once the trace was read
  Seconds spent{0};      // on the wall clock
  Seconds processor{0};  // of the processor
};

struct Pass {
  std::vector<RunningChain> chains;
  std::unique_ptr<TraceSource> source;
  uint64_t events = 0;
  Seconds reading{0};
};

Result<std::vector<Chain>> parse_chains(const std::vector<std::string>& texts) {
  std::vector<Chain> chains;
  for (const std::string& text : texts) {
    Result<Chain> chain = parse_chain(text, offline_catalog());
    if (!chain) return chain.error();
    if (const EngineInfo& e = *chain->detector().info; !e.offline) {
      return Error{fmt::format("'{0}' needs a running program, not a trace: photofinish run -e {0}", e.name)};
    }
    chains.push_back(std::move(*chain));
  }
  return chains;
}

// "0/4": of four shards, the first.
Result<Shard> parse_shard(const Request& request, const std::vector<Chain>& chains) {
  const std::string& text = request.shard;
  if (text.empty()) return Shard{};
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  const bool has_slash = number.ec == std::errc{} && number.ptr != end && *number.ptr == '/';
  const auto of = has_slash ? std::from_chars(number.ptr + 1, end, shard.of) : number;
  if (!has_slash || of.ec != std::errc{} || of.ptr != end || shard.number >= shard.of)
    return Error{"--shard needs I/N with I from 0 to N-1, as in 0/4, not '" + text + "'"};
  if (request.files.size() != 1) return Error{"--shard takes one trace"};
  for (const Chain& chain : chains) {
    if (!is_predictor(*chain.detector().info))
      return Error{"--shard is for predictors, which work on windows; '" + chain.text + "' needs the whole trace"};
  }
  return shard;
}

std::vector<FoundRace> real_ones_first(std::vector<FoundRace>&& races) {
  std::vector<FoundRace> sorted;
  for (const bool real : {true, false})
    for (FoundRace& r : races)
      if ((r.record.verdict == Verdict::Real) == real) sorted.push_back(std::move(r));
  return sorted;
}

// One pass over the file for all chains; a batch is read once and each chain's own time is taken.
Status run_pass(Pass& pass, const Request& request, const Globals& globals) {
  const TraceNames names(pass.source->names());
  for (const RunningChain& c : pass.chains) {
    if (const Status started = start_all(c.filters, names); !started) return started;
  }
  Progress progress(globals.progress(), "analyzing", pass.source->bytes_total());
  for (;;) {
    const auto start = steady_clock::now();
    const Result<std::span<const Event>> batch = pass.source->next();
    auto then = steady_clock::now();
    pass.reading += then - start;
    if (!batch) return batch.error();
    if (batch->empty()) break;
    pass.events += batch->size();
    Seconds used = processor_time();
    for (RunningChain& c : pass.chains) {
      c.process(*batch);
      const auto now = steady_clock::now();
      const Seconds total = processor_time();
      c.spent += now - std::exchange(then, now);
      c.processor += total - std::exchange(used, total);
    }
    progress.update(pass.source->bytes_read(), pass.events);
  }
  for (RunningChain& c : pass.chains) {
    const auto start = steady_clock::now();
    c.findings = c.detector->findings();
    c.spent += steady_clock::now() - start;
    c.processor += Seconds(c.findings.processor_seconds);
    if (request.shard.empty()) c.findings.races = real_ones_first(std::move(c.findings.races));
  }
  return Done{};
}

// A second look at the trace, if there are potential races: which locks hid them. None at what can be read but once.
Status explain(Pass& pass, const std::string& file, OpenOptions options, const Globals& globals) {
  std::deque<Explainer> explainers;
  for (RunningChain& c : pass.chains) {
    explainers.emplace_back(c.chain, c.findings.races);
    if (!explainers.back().has_questions()) explainers.pop_back();
  }
  if (explainers.empty() || !std::filesystem::is_regular_file(file)) return Done{};
  const Result<std::unique_ptr<TraceSource>> source = open_trace(file, options);
  if (!source) return source.error();
  const TraceNames names((*source)->names());
  for (Explainer& explainer : explainers) {
    if (const Status started = explainer.start(names); !started) return started;
  }
  Progress progress(globals.progress(), "explaining", (*source)->bytes_total());
  for (uint64_t events = 0;;) {
    const Result<std::span<const Event>> batch = (*source)->next();
    if (!batch) return batch.error();
    if (batch->empty()) return Done{};
    events += batch->size();
    for (Explainer& explainer : explainers) explainer.process(*batch);
    progress.update((*source)->bytes_read(), events);
  }
}

// What filters keep for the next trial: once it is sure that there is a result.
Status keep_state(const Pass& pass) {
  for (const RunningChain& c : pass.chains) {
    if (const Status finished = finish_all(c.filters); !finished) return finished;
  }
  return Done{};
}

report::Sampling summarize(const SamplingCounts& n) { return {n.rate, n.effective(), n.accesses, n.sampled_accesses}; }

report::FilterSummary summarize(const StageSpec& stage, const FilterStats& f) {
  report::FilterSummary s{std::string(stage.info->name), f.events, f.dropped, f.bytes, f.peak_bytes, {}};
  for (std::size_t i = 0; i < f.rules.size(); ++i) s.rules.emplace_back(stage.info->rules[i], f.rules[i]);
  return s;
}

// What a chain would have taken alone: the reading and its own work.
report::Summary summarize(const RunningChain& c, const Pass& pass, const std::string& shard) {
  const Findings& f = c.findings;
  report::Summary s;
  s.engine = c.chain.text;
  s.events = pass.events;
  s.suspects = static_cast<uint64_t>(
      std::ranges::count(f.races, Verdict::Suspect, [](const FoundRace& r) { return r.record.verdict; }));
  s.races = f.races.size() - s.suspects;
  if (f.by_library) s.libraries = report::Libraries{{}, *f.by_library, 0};
  s.dynamic_races = f.dynamic_races;
  s.racy_events = f.racy_events;
  s.threads = f.threads;
  s.potential = static_cast<uint64_t>(
      std::ranges::count(f.races, Verdict::Potential, [](const FoundRace& r) { return r.record.verdict; }));
  s.predicted = static_cast<uint64_t>(
      std::ranges::count(f.races, Verdict::Predicted, [](const FoundRace& r) { return r.record.verdict; }));
  s.shard = shard;
  s.bytes = f.bytes;
  s.peak_bytes = f.peak_bytes;
  for (std::size_t i = 0; i < c.filters.size(); ++i) {
    const FilterStats stats = c.filters[i]->stats();
    s.filters.push_back(summarize(c.chain.stages[i], stats));
    if (stats.sampling) s.sampling = summarize(*stats.sampling);
    s.dropped += s.filters.back().dropped;
    s.bytes += s.filters.back().bytes;
    s.peak_bytes += s.filters.back().peak_bytes;
  }
  s.accesses = f.accesses + s.dropped;
  s.seconds = (pass.reading + c.spent).count();
  s.own_seconds = c.processor.count();
  for (const RuleCount& r : f.rules) s.rules.emplace_back(r.rule, r.count);
  if (f.sampling) s.sampling = summarize(*f.sampling);
  s.unknown = f.unknown;
  for (const RuleCount& r : f.found_by) s.found_by.emplace_back(r.rule, r.count);
  return s;
}

class Presentation {
 public:
  Presentation(bool json, report::TextStyle style)
      : json_(json), style_(style),
        renderer_(json ? report::make_json_renderer(stdout) : report::make_text_renderer(stdout, style)) {}

  // Returns whether there was a race.
  bool show(const Pass& pass, const std::string& shard) {
    report::Comparison comparison;
    comparison.reading = pass.reading.count();
    std::vector<report::Summary> summaries;
    for (const RunningChain& c : pass.chains) {
      for (const FoundRace& found : c.findings.races) {
        const report::Race race = name_race(found, c.chain, pass.source->names());
        renderer_->race(race);
        comparison.add(found.record.pair(), race);
      }
      summaries.push_back(summarize(c, pass, shard));
      comparison.add(summaries.back());
    }
    // One line sums up one chain; several are a table for people, and a line each for programs and with -v.
    const bool table = summaries.size() > 1 && !json_ && !style_.quiet;
    if (!table || style_.verbose) {
      for (const report::Summary& s : summaries) renderer_->summary(s);
    }
    if (table) comparison.print(stdout, style_);
    return std::ranges::any_of(summaries, [](const report::Summary& s) { return s.races != 0; });
  }

 private:
  bool json_;
  report::TextStyle style_;
  std::unique_ptr<report::Renderer> renderer_;
};

// Every file is read to its end before anything is printed for it: no partial result is called a result.
Outcome analyze(const Request& request, const Globals& globals) {
  const Result<std::vector<Chain>> chains = parse_chains(request.chains);
  if (!chains) return chains.error();
  const Result<Shard> shard = parse_shard(request, *chains);
  if (!shard) return shard.error();
  Presentation presentation(request.json || !request.shard.empty(),
                            {.color = globals.colored(), .verbose = globals.verbose > 0, .quiet = globals.quiet});
  bool found = false;
  const OpenOptions options{.salvage = request.salvage};
  for (const std::string& file : request.files) {
    Pass pass;
    Result<std::unique_ptr<TraceSource>> source = open_trace(file, options);
    if (!source) return source.error();
    pass.source = std::move(*source);
    for (const Chain& chain : *chains) pass.chains.emplace_back(chain, *shard);
    Status done = run_pass(pass, request, globals);
    if (done) done = explain(pass, file, options, globals);
    if (done) done = keep_state(pass);
    if (!done) return done.error();
    if (!pass.source->lost().empty()) fmt::print(stderr, "photofinish: salvaged: {}\n", pass.source->lost());
    found = presentation.show(pass, request.shard) || found;
  }
  return found ? kRacesFound : kSuccess;
}

}  // namespace

void add_analyze(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("analyze", "Find the races of recorded traces");
  auto request = std::make_shared<Request>();
  request->chains = {"fasttrack"};
  verb->add_option("FILE", request->files, "Trace files (.pft, .std, .txt, gzip'd or not)")->required();
  verb->add_option("-e,--engine", request->chains,
                   "Chain of stages, as in tree:fasttrack; several -e run over one pass of the file and are compared")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_flag("--json", request->json, "One JSON object per line: every race, then a summary per chain");
  verb->add_option(
          "--shard", request->shard,
          "I/N: of N shards the windows of the I-th (from 0), for predictors; photofinish merge joins the results")
      ->type_name("I/N");
  verb->add_flag("--salvage", request->salvage, "Read a damaged or unfinished trace up to its last good block");
  verb->footer("Exit code: 0 no race, 66 at least one race, 2 wrong usage or bad input.");
  verb->callback([request, verbs] { verbs.run = [request, verbs] { return analyze(*request, verbs.globals); }; });
}

}  // namespace pf::cli
