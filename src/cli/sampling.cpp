#include "cli/sampling.h"

#include <fmt/format.h>
#include <poll.h>

#include "cli/runtime_files.h"
#include "core/duration.h"
#include "core/periods.h"

namespace pf::cli {

using namespace std::chrono_literals;

std::shared_ptr<SamplingRequest> add_sampling_options(CLI::App& verb, const std::string& after_duration) {
  auto request = std::make_shared<SamplingRequest>();
  verb.add_option("--overhead", request->overhead, "Share of the program's processor time that sampling may take")
      ->capture_default_str()
      ->type_name("SHARE");
  verb.add_option("--for", request->duration, "Sample for so long (30s, 10m); " + after_duration)->type_name("TIME");
  verb.add_option("--lib", request->planter.libraries,
                  "Sample these libraries, too: patterns of file names, as in 'libfoo*'")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATTERN");
  verb.add_option("--limit", request->limit, "How long a sampled access waits for another one")->capture_default_str();
  verb.add_option("--delay", request->delay, "How long a thread is stopped to see whether a suspect is a race")
      ->capture_default_str();
  verb.add_option("--breakpoints", request->planter.breakpoints,
                  "Instructions that have one at a time; more where the budget is not used up")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  verb.add_flag("--cold", request->planter.cold, "Prefer instructions that were met least");
  verb.add_option("--seed", request->planter.seed, "Draw the same instructions again")->type_name("N");
  verb.add_option("-r,--report", request->reports, "FORMAT[:FILE], as for run")->take_all()->allow_extra_args(false);
  return request;
}

Result<SamplingPlan> make_sampling_plan(const SamplingRequest& request, const Globals& globals) {
  const std::optional<uint64_t> overhead = parse_rate(request.overhead);
  if (!overhead || *overhead == 0)
    return Error{fmt::format("--overhead {}: a share such as 2% expected", request.overhead)};
  SamplingPlan plan;
  const Result<std::vector<ReportSpec>> specs = parse_report_specs(request.reports);
  if (!specs) return specs.error();
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
  plan.planter = request.planter;
  plan.planter.overhead = static_cast<double>(*overhead) / 4294967296.0;
  if (plan.planter.seed == 0)
    plan.planter.seed = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  plan.options = read_run_options(globals);
  plan.reports = *specs;
  return plan;
}

Result<SamplingFiles> SamplingFiles::make(const SamplingPlan& plan, const std::string& program) {
  Result<report::Suppressions> suppressions = read_suppressions(plan.options, program);
  if (!suppressions) return suppressions.error();
  ReportFiles reports;
  if (const Status opened = reports.open(plan.reports); !opened) return opened.error();
  Result<RunDirectory> directory = RunDirectory::make();
  if (!directory) return directory.error();
  Result<binary::BoardFile> board = binary::BoardFile::make(directory->path() + "/board");
  if (!board) return board.error();
  return SamplingFiles{std::move(*suppressions), std::move(reports), std::move(*directory), std::move(*board)};
}

// --- the status line ---

void StatusLine::show(const binary::Planter::Counts& counts, std::size_t races) {
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

void StatusLine::hide() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

// --- sampling ---

Sampling::Sampling(const SamplingPlan& plan, pid_t program, SamplingFiles& files, const Globals& globals)
    : plan_(plan), globals_(globals), files_(files), follower_(files.directory.path()),
      planter_(program, files.board, plan.planter), session_(plan.chain, plan.options, std::move(files.suppressions),
                                                             files.reports.sinks(plan.options, globals, program)),
      status_(globals.progress()) {}

void Sampling::go_on(int fd) {
  // Programs that end soon get their samples at once; later, waking up is what costs most of our own time.
  constexpr auto kBeginning = 300ms;
  constexpr int kTickAtFirst = 5, kTick = 25, kTickWhenOver = 200;  // ms
  const int tick = over_ ? kTickWhenOver : Clock::now() - start_ < kBeginning ? kTickAtFirst : kTick;
  pollfd ready[] = {{fd, POLLIN, 0}, {follower_.fd(), POLLIN, 0}};
  poll(ready, 2, tick);
  if (follower_.fd() < 0 || ready[1].revents != 0) drain();
  if (over_) return;
  if (plan_.duration && Clock::now() - start_ >= *plan_.duration) return stop();
  planter_.work();
  status_.show(planter_.counts(), session_.races());
}

void Sampling::stop() {
  planter_.withdraw();
  over_ = true;
}

void Sampling::drain() {
  follower_.drain([&](const std::string& file, std::string_view line) {
    status_.hide();
    session_.take(file, line);
  });
}

std::string Sampling::summary() {
  const binary::Planter::Counts c = planter_.counts();
  return fmt::format("sampled {} accesses at {} of {} instructions in {} module{}; overhead about {:.2f}%\n", c.fired,
                     c.planted, c.sites, c.modules, c.modules == 1 ? "" : "s", 100 * c.overhead);
}

Result<bool> Sampling::finish(const std::string& program) {
  drain();
  status_.hide();
  session_.end_trial();
  const std::chrono::duration<double> spent = Clock::now() - start_;
  session_.finish(spent.count());
  if (!follower_.any()) {
    fmt::print(stderr,
               "photofinish: {} cannot be sampled: it does not load libraries (linked statically, or with rights of "
               "another user)\n",
               program);
  } else if (!planter_.status()) {
    fmt::print(stderr, "photofinish: {}\n", planter_.status().error().message);
  } else if (!globals_.quiet) {
    fmt::print(stderr, "  {}", summary());
  }
  if (const Status written = session_.written(); !written) return written.error();
  if (const Status closed = files_.reports.close(); !closed) return closed.error();
  return session_.found();
}

}  // namespace pf::cli
