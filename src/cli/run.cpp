// photofinish run: runs an instrumented program under detection and reports its races while it runs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "cli/cli.h"
#include "cli/contexts.h"
#include "cli/reports.h"
#include "cli/runtime_files.h"
#include "cli/supervise.h"
#include "cli/target.h"
#include "cli/trials.h"
#include "detect/clockrace.h"
#include "detect/collision.h"
#include "filter/tree.h"
#include "offline/catalog.h"
#include "report/follow.h"

namespace pf::cli {
namespace {

struct Request {
  std::string chain = "fasttrack";
  std::string trials;    // empty: run the program once
  std::string overhead;  // empty: as the chain says
  std::vector<std::string> reports;
};

// What works inside programs, too.
Status check_filters(const Chain& chain) {
  const std::string_view detector = chain.detector().info->name;
  if (chain.stages.size() == 1) return Done{};
  if (detector == kClockRaceInfo.name || detector == kCollisionInfo.name)
    return Error{fmt::format("'{}' samples by itself: no filter works in front of it", detector)};
  if (chain.stages.size() > 2)
    return Error{fmt::format("one filter works inside programs, not several: '{}'", chain.text)};
  if (chain.detector().options.contains("libs") && chain.stages.front().info->name != kTreeInfo.name)
    return Error{fmt::format("with libs no sampling filter works in front of '{}'", detector)};
  return Done{};
}

Result<std::filesystem::path> runtime_of(const Chain& chain) {
  if (const Status filters = check_filters(chain); !filters) return filters.error();
  std::string detector(chain.detector().info->name);
  if (chain.detector().options.contains("libs")) detector += kWithLibraries;
  if (const auto folder = find_runtime(detector)) return *folder;
  const std::vector<std::string> others = available_runtimes();
  return Error{fmt::format("there is no runtime for '{}' ({})", detector,
                           others.empty() ? fmt::format("none in {}", runtime_roots().front().string())
                                          : fmt::format("available: {}", fmt::join(others, ", ")))};
}

// What the command line and the environment ask for, checked before the program starts.
struct Plan {
  Chain chain;
  std::filesystem::path runtime;
  uint64_t trials = 1;
  bool with_rates = false;
  std::vector<std::string> command;
  report::RunOptions options;
  std::optional<ContextTrials> contexts = {};
};

// What to do after everything is reported and the run directory is gone.
struct End {
  int status = 0;
  bool found = false;
  report::RunOptions options;
};

// The program's runs, one after the other, all into one session.
class Runs {
 public:
  Runs(const Plan& plan, report::Suppressions suppressions, ReportFiles& files, const Globals& globals)
      : plan_(plan), contexts_(plan.contexts), suppressions_(std::move(suppressions)), files_(files), globals_(globals),
        progress_(plan.with_rates && globals.progress(), plan.trials) {}

  // All of them, or until somebody wants an end. A program that cannot be started ends them, too.
  Status run() {
    Status status = Done{};
    for (uint64_t trial = 0; status && trial < plan_.trials && !gate_.stopped(); ++trial) status = run_once(trial);
    progress_.hide();
    if (!session_) return status;
    if (!instrumented_) fmt::print(stderr, "photofinish: {}\n", not_instrumented(plan_.command.front()));
    std::signal(SIGPIPE, SIG_IGN);  // the last reports
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    session_->finish(spent.count(), plan_.with_rates);
    return status ? session_->written() : status;
  }

  End end() const {
    if (!session_) return {.status = gate_.stopped_by(), .found = false, .options = plan_.options};
    return {.status = status_, .found = session_->found(), .options = session_->options()};
  }

 private:
  Status run_once(uint64_t trial) {
    const Result<RunDirectory> directory = RunDirectory::make();
    if (!directory) return directory.error();
    if (contexts_) {
      if (const Status prepared = contexts_->prepare(directory->path()); !prepared) return prepared;
    }
    report::RunFollower follower(directory->path());
    Environment environment = environment_of(plan_.chain.text, directory->path(), plan_.runtime.string(), false);
    if (plan_.with_rates) environment.emplace_back("PHOTOFINISH_TRIAL", std::to_string(trial + 1));
    const Result<pid_t> program = start_program(plan_.command, environment, gate_);
    if (!program) return program.error();
    const IgnoredPipes ignored;
    if (!session_) {
      session_.emplace(plan_.chain.text, plan_.options, std::move(suppressions_),
                       files_.sinks(plan_.options, globals_, *program));
    }
    progress_.show(trial, session_->races());
    const int status = follow(*program, gate_, follower, [&](const std::string& file, std::string_view line) {
      progress_.hide();
      session_->take(file, line);
      progress_.show(trial, session_->races());
    });
    if (status_ == 0) status_ = status;
    instrumented_ = instrumented_ || follower.any();
    session_->end_trial();
    return contexts_ ? contexts_->collect() : Done{};
  }

  const Plan& plan_;
  std::optional<ContextTrials> contexts_;
  report::Suppressions suppressions_;  // until there is a session
  ReportFiles& files_;
  const Globals& globals_;
  TrialProgress progress_;
  SignalGate gate_;
  std::optional<report::Session> session_;  // once there is a program
  int status_ = 0;                          // the first that is not zero
  bool instrumented_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Result<End> run_program(const Plan& plan, const Request& request, const Globals& globals) {
  const Result<std::vector<ReportSpec>> specs = parse_report_specs(request.reports);
  if (!specs) return specs.error();
  Result<report::Suppressions> suppressions = read_suppressions(plan.options, plan.command.front());
  if (!suppressions) return suppressions.error();
  ReportFiles files;
  if (const Status opened = files.open(*specs); !opened) return opened.error();
  Runs runs(plan, std::move(*suppressions), files, globals);
  if (const Status done = runs.run(); !done) return done.error();
  if (const Status closed = files.close(); !closed) return closed.error();
  return runs.end();
}

// --overhead is the option of that name of the chain's detector.
Result<Chain> chain_of(const Request& request) {
  if (request.overhead.empty()) return parse_chain(request.chain, offline_catalog());
  const Result<Chain> chain = parse_chain(request.chain, offline_catalog());
  if (!chain) return chain.error();
  const EngineInfo& detector = *chain->detector().info;
  if (std::ranges::find(detector.options, "overhead", &OptionInfo::name) == detector.options.end())
    return Error{fmt::format("--overhead is for engines that can keep it, such as clockrace and collision, not '{}'",
                             detector.name)};
  return parse_chain(request.chain + ",overhead=" + request.overhead, offline_catalog());
}

Result<Plan> make_plan(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  const Result<Chain> chain = chain_of(request);
  if (!chain) return chain.error();
  const Result<std::filesystem::path> runtime = runtime_of(*chain);
  if (!runtime) return runtime.error();
  Result<std::optional<ContextTrials>> contexts = ContextTrials::of(*chain);
  if (!contexts) return contexts.error();
  Plan plan{*chain, *runtime, 1, !request.trials.empty(), command, read_run_options(globals), std::move(*contexts)};
  if (!plan.with_rates) return plan;
  const Result<uint64_t> trials = parse_trials(request.trials, *chain);
  if (!trials) return trials.error();
  plan.trials = *trials;
  return plan;
}

Outcome run(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  if (command.empty()) return Error{"run: no program given (see photofinish run --help)"};
  const Result<Plan> plan = make_plan(request, command, globals);
  if (!plan) return plan.error();
  const Result<End> end = run_program(*plan, request, globals);
  if (!end) return end.error();
  if (WIFSIGNALED(end->status) && !plan->with_rates) {
    std::fflush(nullptr);
    die_of(WTERMSIG(end->status));
  }
  return exit_code(end->status, end->found, end->options);
}

}  // namespace

void add_run(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("run", "Run an instrumented program and report its races");
  auto request = std::make_shared<Request>();
  auto shown_only = std::make_shared<std::vector<std::string>>();
  verb->add_option("-e,--engine", request->chain, "Chain of stages, as in tree:fasttrack")->capture_default_str();
  verb->add_option("-r,--report", request->reports,
                   "FORMAT[:FILE], several may be given: text (to standard error) or json (to standard output)")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option(
          "--trials", request->trials,
          "Run the program N times, or as often as the sampling rate asks for (auto), and tell how often each race "
          "was found")
      ->type_name("N|auto");
  verb->add_option("--overhead", request->overhead,
                   "Share of the time that clockrace and collision may take, such as 2%; the same as their overhead=")
      ->type_name("SHARE");
  verb->add_option("PROGRAM", *shown_only, "The program, built with pf-c++ or pf-cc, and its arguments");
  verb->footer(
      "Exit code: the program's own, or 66 (PHOTOFINISH_OPTIONS=exitcode=N) when a race was reported, or 2 for\n"
      "wrong usage. A program that a signal ended ends photofinish by the same signal.\n"
      "With --trials: 66 if any run found a race, else the first exit code that is not 0 (128 + N for signal N);\n"
      "Ctrl-C ends the run that is under way and reports what there is.\n"
      "PHOTOFINISH_OPTIONS and suppressions: docs/options.md.");
  verb->callback(
      [request, verbs] { verbs.run = [request, verbs] { return run(*request, verbs.command, verbs.globals); }; });
}

}  // namespace pf::cli
