// photofinish run: runs an instrumented program under detection and reports its races while it runs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "cli/cli.h"
#include "cli/reports.h"
#include "cli/runtime_files.h"
#include "cli/target.h"
#include "offline/catalog.h"
#include "report/follow.h"

namespace pf::cli {
namespace {

struct Request {
  std::string chain = "fasttrack";
  std::vector<std::string> reports;
};

Result<std::filesystem::path> runtime_of(const std::string& chain_text) {
  const Result<Chain> chain = parse_chain(chain_text, offline_catalog());
  if (!chain) return chain.error();
  for (const StageSpec& stage : std::span(chain->stages).first(chain->stages.size() - 1)) {
    if (stage.info->name != "tree" || chain->stages.size() > 2)
      return Error{fmt::format("'{}' filters traces, not programs", stage.info->name)};
    if (const auto threads = stage.options.find("threads"); threads != stage.options.end() && threads->second != "1")
      return Error{"tree,threads=2 filters traces, not programs"};
  }
  const std::string detector(chain->detector().info->name);
  if (const auto folder = find_runtime(detector)) return *folder;
  const std::vector<std::string> others = available_runtimes();
  return Error{fmt::format("there is no runtime for '{}' ({})", detector,
                           others.empty() ? fmt::format("none in {}", runtime_roots().front().string())
                                          : fmt::format("available: {}", fmt::join(others, ", ")))};
}

Environment environment_of(const std::string& chain, const std::string& run, const std::string& runtime) {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string libraries = value_of("LD_LIBRARY_PATH"), preloaded = value_of("LD_PRELOAD");
  Environment environment = {
      {"PHOTOFINISH_RUN", run},
      {"PHOTOFINISH_CHAIN", chain},
      {"LD_LIBRARY_PATH", libraries.empty() ? runtime : fmt::format("{}:{}", runtime, libraries)}};
  // A preloaded allocator would come before our runtime, which then would not see what is allocated. So ours comes first.
  if (!preloaded.empty()) {
    environment.emplace_back("LD_PRELOAD", fmt::format("{}/libphotofinish.so:{}", runtime, preloaded));
    environment.emplace_back("PHOTOFINISH_PRELOADED", "1");
  }
  return environment;
}

// Until the program has ended: reports come out as they come in, signals go to the program.
int follow(pid_t program, SignalGate& gate, report::RunFollower& follower, const report::RunFollower::Take& take) {
  int status = 0;
  while (!has_ended(program, status)) {
    pollfd ready[] = {{gate.fd(), POLLIN, 0}, {follower.fd(), POLLIN, 0}};
    poll(ready, 2, gate.fd() < 0 || follower.fd() < 0 ? 200 : -1);  // no descriptor left: ask now and then
    gate.forward(program);
    follower.drain(take);
  }
  follower.drain(take);
  return status;
}

int exit_code(int status, bool found, const report::RunOptions& options) {
  if (found && options.exitcode != 0) return options.exitcode;
  return WEXITSTATUS(status);
}

void say_not_instrumented(const std::string& program) {
  fmt::print(stderr,
             "photofinish: {} is not instrumented: build it with pf-c++ or pf-cc (or with -fsanitize=thread, "
             "dynamically linked)\n",
             program);
}

// What to do after everything is reported and the run directory is gone.
struct End {
  int status = 0;
  bool found = false;
  report::RunOptions options;
};

Result<End> run_program(const Request& request, const std::vector<std::string>& command,
                        const report::RunOptions& options, const Globals& globals) {
  const Result<std::filesystem::path> runtime = runtime_of(request.chain);
  if (!runtime) return runtime.error();
  const Result<std::vector<ReportSpec>> specs = parse_report_specs(request.reports);
  if (!specs) return specs.error();
  Result<report::Suppressions> suppressions = read_suppressions(options, command.front());
  if (!suppressions) return suppressions.error();
  Result<RunDirectory> directory = RunDirectory::make();
  if (!directory) return directory.error();
  ReportFiles files;
  if (const Status opened = files.open(*specs); !opened) return opened.error();

  SignalGate gate;
  report::RunFollower follower(directory->path());
  const auto start = std::chrono::steady_clock::now();
  const Result<pid_t> program =
      start_program(command, environment_of(request.chain, directory->path(), runtime->string()), gate);
  if (!program) return program.error();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe for our reports is no reason to leave the program alone

  report::Session session(request.chain, options, std::move(*suppressions), files.sinks(options, globals, *program));
  const int status = follow(*program, gate, follower,
                            [&](const std::string& file, std::string_view line) { session.take(file, line); });
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (!follower.any()) say_not_instrumented(command.front());
  session.finish(spent.count());
  if (const Status written = session.written(); !written) return written.error();
  if (const Status closed = files.close(); !closed) return closed.error();
  return End{status, session.found(), session.options()};
}

Outcome run(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  if (command.empty()) return Error{"run: no program given (see photofinish run --help)"};
  const report::RunOptions options = read_run_options(globals);
  const Result<End> end = run_program(request, command, options, globals);
  if (!end) return end.error();
  if (WIFSIGNALED(end->status)) {
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
  verb->add_option("PROGRAM", *shown_only, "The program, built with pf-c++ or pf-cc, and its arguments");
  verb->footer(
      "Exit code: the program's own, or 66 (PHOTOFINISH_OPTIONS=exitcode=N) when a race was reported, or 2 for\n"
      "wrong usage. A program that a signal ended ends photofinish by the same signal.\n"
      "PHOTOFINISH_OPTIONS and suppressions: docs/options.md.");
  verb->callback(
      [request, verbs] { verbs.run = [request, verbs] { return run(*request, verbs.command, verbs.globals); }; });
}

}  // namespace pf::cli
