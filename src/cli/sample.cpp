// photofinish sample: runs a program as it is, not instrumented, and looks for races with breakpoints at random instructions
// (binary/planter.h; docs/sampling-binaries.md).
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "binary/planter.h"
#include "cli/cli.h"
#include "cli/reports.h"
#include "cli/runtime_files.h"
#include "cli/supervise.h"
#include "core/duration.h"
#include "core/periods.h"
#include "report/follow.h"

namespace pf::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Request {
  std::string overhead = "2%", limit = "15ms", delay = "15ms";
  std::string duration;  // empty: until the program ends
  binary::PlanterOptions planter;
  std::vector<std::string> reports;
};

struct Plan {
  std::string chain;
  std::filesystem::path runtime;
  std::vector<std::string> command;
  binary::PlanterOptions planter;
  std::optional<Clock::duration> duration;
  report::RunOptions options;
};

// On a terminal, how it is going; rewritten twice a second.
class StatusLine {
 public:
  explicit StatusLine(bool enabled) : enabled_(enabled) {}
  ~StatusLine() { hide(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const binary::Planter::Counts& counts, std::size_t races) {
    const Clock::time_point now = Clock::now();
    if (!enabled_ || now < next_) return;
    const std::chrono::duration<double> since = now - start_;
    fmt::print(
        stderr, "\r\033[Ksampling: {:.0f} samples/s, {} in all of {} instructions, overhead about {:.2f}%, {} found",
        static_cast<double>(counts.fired) / since.count(), counts.fired, counts.sites, 100 * counts.overhead, races);
    std::fflush(stderr);
    shown_ = true;
    next_ = now + 500ms;
  }
  void hide() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  bool enabled_, shown_ = false;
  Clock::time_point start_ = Clock::now(), next_ = start_ + 2s;
};

// While the program runs: plants, and reports what comes.
class Sampling {
 public:
  Sampling(const Plan& plan, pid_t program, binary::BoardFile& board, report::Session& session, bool show_status)
      : plan_(plan), program_(program), planter_(program, board, plan.planter), session_(session),
        status_(show_status) {}

  int run(SignalGate& gate, report::RunFollower& follower) {
    int status = 0;
    while (!has_ended(program_, status)) {
      pollfd ready[] = {{gate.fd(), POLLIN, 0}, {follower.fd(), POLLIN, 0}};
      poll(ready, 2, is_over() ? 200 : kTick);
      gate.forward(program_);
      drain(follower);
      work();
    }
    drain(follower);
    status_.hide();
    return status;
  }

  // What it came to, in a line.
  std::string summary() {
    const binary::Planter::Counts c = planter_.counts();
    return fmt::format("sampled {} accesses at {} of {} instructions in {} module{}; overhead about {:.2f}%\n", c.fired,
                       c.planted, c.sites, c.modules, c.modules == 1 ? "" : "s", 100 * c.overhead);
  }
  const binary::Planter& planter() const { return planter_; }

 private:
  static constexpr int kTick = 5;  // ms

  bool is_over() const { return over_; }
  void work() {
    if (over_) return;
    if (plan_.duration && Clock::now() - start_ >= *plan_.duration) {
      planter_.withdraw();
      over_ = true;
      return;
    }
    planter_.work();
    status_.show(planter_.counts(), session_.races());
  }
  void drain(report::RunFollower& follower) {
    follower.drain([&](const std::string& file, std::string_view line) {
      status_.hide();
      session_.take(file, line);
    });
  }

  const Plan& plan_;
  pid_t program_;
  binary::Planter planter_;
  report::Session& session_;
  StatusLine status_;
  bool over_ = false;
  Clock::time_point start_ = Clock::now();
};

struct End {
  int status = 0;
  bool found = false;
  report::RunOptions options;
};

Result<End> sample_program(const Plan& plan, const Request& request, const Globals& globals) {
  const Result<std::vector<ReportSpec>> specs = parse_report_specs(request.reports);
  if (!specs) return specs.error();
  Result<report::Suppressions> suppressions = read_suppressions(plan.options, plan.command.front());
  if (!suppressions) return suppressions.error();
  ReportFiles files;
  if (const Status opened = files.open(*specs); !opened) return opened.error();
  const Result<RunDirectory> directory = RunDirectory::make();
  if (!directory) return directory.error();
  const std::string board_path = directory->path() + "/board";
  Result<binary::BoardFile> board = binary::BoardFile::make(board_path);
  if (!board) return board.error();

  SignalGate gate;
  report::RunFollower follower(directory->path());
  Environment environment = environment_of(plan.chain, directory->path(), plan.runtime.string(), true);
  environment.emplace_back("PHOTOFINISH_BOARD", board_path);
  const auto start = Clock::now();
  const Result<pid_t> program = start_program(plan.command, environment, gate);
  if (!program) return program.error();
  const IgnoredPipes ignored;
  report::Session session(plan.chain, plan.options, std::move(*suppressions),
                          files.sinks(plan.options, globals, *program));
  Sampling sampling(plan, *program, *board, session, globals.progress());
  const int status = sampling.run(gate, follower);
  session.end_trial();
  const std::chrono::duration<double> spent = Clock::now() - start;
  session.finish(spent.count());
  if (!follower.any()) {
    fmt::print(stderr,
               "photofinish: {} cannot be sampled: it does not load libraries (linked statically, or with rights of "
               "another user)\n",
               plan.command.front());
  } else if (!sampling.planter().status()) {
    fmt::print(stderr, "photofinish: {}\n", sampling.planter().status().error().message);
  } else if (!globals.quiet) {
    fmt::print(stderr, "  {}", sampling.summary());
  }
  if (const Status written = session.written(); !written) return written.error();
  if (const Status closed = files.close(); !closed) return closed.error();
  return End{status, session.found(), session.options()};
}

Result<Plan> make_plan(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  const std::optional<uint64_t> overhead = parse_rate(request.overhead);
  if (!overhead || *overhead == 0)
    return Error{fmt::format("--overhead {}: a share such as 2% expected", request.overhead)};
  Plan plan;
  for (const auto& [name, value] : {std::pair("--limit", request.limit), std::pair("--delay", request.delay)}) {
    if (!parse_duration(value)) return Error{fmt::format("{} {}: a time such as 15ms expected", name, value)};
  }
  if (!request.duration.empty()) {
    const std::optional<uint64_t> duration = parse_duration(request.duration);
    if (!duration) return Error{fmt::format("--for {}: a time such as 30s or 10m expected", request.duration)};
    plan.duration = std::chrono::nanoseconds(*duration);
  }
  const std::optional<std::filesystem::path> runtime = find_runtime("sampler");
  if (!runtime) return Error{"there is no runtime for programs that are not instrumented"};
  plan.chain = fmt::format("clockrace,limit={},delay={},overhead={}", request.limit, request.delay, request.overhead);
  plan.runtime = *runtime;
  plan.command = command;
  plan.planter = request.planter;
  plan.planter.overhead = static_cast<double>(*overhead) / 4294967296.0;
  if (plan.planter.seed == 0) plan.planter.seed = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  plan.options = read_run_options(globals);
  return plan;
}

Outcome sample(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  if (command.empty()) return Error{"sample: no program given (see photofinish sample --help)"};
  const Result<Plan> plan = make_plan(request, command, globals);
  if (!plan) return plan.error();
  const Result<End> end = sample_program(*plan, request, globals);
  if (!end) return end.error();
  if (WIFSIGNALED(end->status)) {
    std::fflush(nullptr);
    die_of(WTERMSIG(end->status));
  }
  return exit_code(end->status, end->found, end->options);
}

}  // namespace

void add_sample(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("sample", "Run a program as it is and look for races by sampling");
  auto request = std::make_shared<Request>();
  auto shown_only = std::make_shared<std::vector<std::string>>();
  verb->add_option("--overhead", request->overhead, "Share of the program's processor time that sampling may take")
      ->capture_default_str()
      ->type_name("SHARE");
  verb->add_option("--for", request->duration, "Sample for so long (30s, 10m); the program goes on without")
      ->type_name("TIME");
  verb->add_option("--lib", request->planter.libraries,
                   "Sample these libraries, too: patterns of file names, as in 'libfoo*'")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATTERN");
  verb->add_option("--limit", request->limit, "How long a sampled access waits for another one")->capture_default_str();
  verb->add_option("--delay", request->delay, "How long a thread is stopped to see whether a suspect is a race")
      ->capture_default_str();
  verb->add_option("--breakpoints", request->planter.breakpoints,
                   "Instructions that have one at a time; more where the budget is not used up")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  verb->add_flag("--cold", request->planter.cold, "Prefer instructions that were met least");
  verb->add_option("--seed", request->planter.seed, "Draw the same instructions again")->type_name("N");
  verb->add_option("-r,--report", request->reports, "FORMAT[:FILE], as for run")->take_all()->allow_extra_args(false);
  verb->add_option("PROGRAM", *shown_only, "The program and its arguments");
  verb->footer(
      "A race is an access that met another one of the same memory while its thread was stopped (confirmed), both "
      "known\n"
      "not to be atomic by debug information and source. What was found but not seen to happen is listed as suspect.\n"
      "Exit code: the program's own, or 66 when a race was reported; suspects do not count.");
  verb->callback(
      [request, verbs] { verbs.run = [request, verbs] { return sample(*request, verbs.command, verbs.globals); }; });
}

}  // namespace pf::cli
