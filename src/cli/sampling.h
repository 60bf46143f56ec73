// What `sample` and `attach` have in common: options, and the work while the program runs.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binary/planter.h"
#include "cli/cli.h"
#include "cli/reports.h"
#include "report/follow.h"

namespace pf::cli {

// As on the command line.
struct SamplingRequest {
  std::string overhead = "2%", limit = "15ms", delay = "15ms";
  std::string duration;  // empty: until the program ends
  binary::PlanterOptions planter;
  std::vector<std::string> reports;
};
std::shared_ptr<SamplingRequest> add_sampling_options(CLI::App& verb, const std::string& after_duration);

struct SamplingPlan {
  std::string chain;
  std::filesystem::path runtime;  // its folder
  binary::PlanterOptions planter;
  std::optional<std::chrono::steady_clock::duration> duration;
  report::RunOptions options;
  std::vector<ReportSpec> reports;
};
Result<SamplingPlan> make_sampling_plan(const SamplingRequest& request, const Globals& globals);

// Where reports come from and go to.
struct SamplingFiles {
  static Result<SamplingFiles> make(const SamplingPlan& plan, const std::string& program);
  std::string board_path() const { return directory.path() + "/board"; }

  report::Suppressions suppressions;
  ReportFiles reports;
  RunDirectory directory;
  binary::BoardFile board;
};

// On a terminal, how it is going; rewritten twice a second.
class StatusLine {
 public:
  explicit StatusLine(bool enabled) : enabled_(enabled) {}
  ~StatusLine() { hide(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const binary::Planter::Counts& counts, std::size_t races);
  void hide();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_, shown_ = false;
  Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(2);
};

// While the program runs: plants, and reports what comes.
class Sampling {
 public:
  Sampling(const SamplingPlan& plan, pid_t program, SamplingFiles& files, const Globals& globals);

  // A moment of it: until something is reported, or `fd` is readable.
  void go_on(int fd);
  // Whether its time is up: nothing is planted any more.
  bool is_over() const { return over_; }
  void stop();
  // What was reported since.
  void drain();
  // Whether a race was found so far; suspects do not count.
  bool found() const { return session_.found(); }
  // Shows the rest. Whether a race was found, or what could not be written.
  Result<bool> finish(const std::string& program);
  const report::RunOptions& options() const { return session_.options(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::string summary();

  const SamplingPlan& plan_;
  const Globals& globals_;
  SamplingFiles& files_;
  report::RunFollower follower_;
  binary::Planter planter_;
  report::Session session_;
  StatusLine status_;
  bool over_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace pf::cli
