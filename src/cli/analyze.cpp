// photofinish analyze: runs chains over recorded traces and reports their races.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/cli.h"
#include "cli/naming.h"
#include "cli/progress.h"
#include "offline/catalog.h"
#include "report/renderer.h"
#include "trace/source.h"

namespace pf::cli {
namespace {

using Seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

struct Request {
  std::vector<std::string> files;
  std::vector<std::string> chains;
  bool json = false;
  bool salvage = false;
};

struct RunningChain {
  explicit RunningChain(Chain which) : chain(std::move(which)), detector(make_detector(chain.detector())) {
    for (const StageSpec& stage : std::span(chain.stages).first(chain.stages.size() - 1)) {
      filters.push_back(make_filter(stage));
    }
  }
  void process(std::span<const Event> batch) {
    for (const auto& filter : filters) batch = filter->pass(batch);
    detector->process(batch);
  }
  uint64_t dropped() const {
    uint64_t n = 0;
    for (const auto& filter : filters) n += filter->dropped();
    return n;
  }

  Chain chain;
  std::vector<std::unique_ptr<FilterStage>> filters;
  std::unique_ptr<DetectorStage> detector;
  Seconds spent{0};
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
    chains.push_back(std::move(*chain));
  }
  return chains;
}

// One pass over the file for all chains; a batch is read once and each chain's own time is taken.
Status run_pass(Pass& pass, const Globals& globals) {
  Progress progress(globals.progress(), "analyzing", pass.source->bytes_total());
  for (;;) {
    const auto start = steady_clock::now();
    const Result<std::span<const Event>> batch = pass.source->next();
    auto then = steady_clock::now();
    pass.reading += then - start;
    if (!batch) return batch.error();
    if (batch->empty()) return Done{};
    pass.events += batch->size();
    for (RunningChain& c : pass.chains) {
      c.process(*batch);
      const auto now = steady_clock::now();
      c.spent += now - std::exchange(then, now);
    }
    progress.update(pass.source->bytes_read(), pass.events);
  }
}

// What a chain would have taken alone: the reading and its own work.
report::Summary summarize(const RunningChain& c, const Findings& f, const Pass& pass) {
  report::Summary s;
  s.engine = c.chain.text;
  s.events = pass.events;
  s.dropped = c.dropped();
  s.accesses = f.accesses + s.dropped;
  s.races = f.races.size();
  s.dynamic_races = f.dynamic_races;
  s.racy_events = f.racy_events;
  s.threads = f.threads;
  s.bytes = f.bytes;
  for (const auto& filter : c.filters) s.bytes += filter->bytes();
  s.seconds = (pass.reading + c.spent).count();
  for (const RuleCount& r : f.rules) s.rules.emplace_back(r.rule, r.count);
  return s;
}

// Returns whether there was a race.
bool render(const Pass& pass, report::Renderer& renderer) {
  std::vector<report::Summary> summaries;
  for (const RunningChain& c : pass.chains) {
    const Findings findings = c.detector->findings();
    for (const bool real : {true, false}) {  // real ones first
      for (const FoundRace& race : findings.races) {
        if ((race.record.verdict == Verdict::Real) != real) continue;
        renderer.race(name_race(race, std::string(c.chain.detector().info->name), pass.source->names()));
      }
    }
    summaries.push_back(summarize(c, findings, pass));
  }
  for (const report::Summary& s : summaries) renderer.summary(s);
  return std::ranges::any_of(summaries, [](const report::Summary& s) { return s.races != 0; });
}

std::unique_ptr<report::Renderer> make_renderer(const Request& request, const Globals& globals) {
  if (request.json) return report::make_json_renderer(stdout);
  return report::make_text_renderer(
      stdout, {.color = globals.colored(), .verbose = globals.verbose > 0, .quiet = globals.quiet});
}

// Every file is read to its end before anything is printed for it: no partial result is called a result.
Outcome analyze(const Request& request, const Globals& globals) {
  const Result<std::vector<Chain>> chains = parse_chains(request.chains);
  if (!chains) return chains.error();
  const std::unique_ptr<report::Renderer> renderer = make_renderer(request, globals);
  bool found = false;
  for (const std::string& file : request.files) {
    Pass pass;
    Result<std::unique_ptr<TraceSource>> source = open_trace(file, {.salvage = request.salvage});
    if (!source) return source.error();
    pass.source = std::move(*source);
    for (const Chain& chain : *chains) pass.chains.emplace_back(chain);
    const Status done = run_pass(pass, globals);
    if (!done) return done.error();
    if (!pass.source->lost().empty()) fmt::print(stderr, "photofinish: salvaged: {}\n", pass.source->lost());
    found = render(pass, *renderer) || found;
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
                   "Chain of stages, as in tree:fasttrack; several -e are run over one pass of the file")
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_flag("--json", request->json, "One JSON object per line: every race, then a summary per chain");
  verb->add_flag("--salvage", request->salvage, "Read a damaged or unfinished trace up to its last good block");
  verb->footer("Exit code: 0 no race, 66 at least one race, 2 wrong usage or bad input.");
  verb->callback([request, verbs] { verbs.run = [request, verbs] { return analyze(*request, verbs.globals); }; });
}

}  // namespace pf::cli
