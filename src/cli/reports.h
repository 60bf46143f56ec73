// Where the reports of a running program go: -r FORMAT[:FILE], and the options of the environment.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "report/session.h"

namespace pf::cli {

// A run directory, gone with its owner.
class RunDirectory {
 public:
  static Result<RunDirectory> make();
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  RunDirectory& operator=(RunDirectory&&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ReportSpec {
  std::string format;  // text or json
  std::string file;    // empty: standard error for text, standard output for JSON
};

Result<std::vector<ReportSpec>> parse_report_specs(const std::vector<std::string>& texts);

// The options and suppressions of the environment; their warnings are printed.
report::RunOptions read_run_options(const Globals& globals);
Result<report::Suppressions> read_suppressions(const report::RunOptions& options, const std::string& program);

// Owns the files that reports go to.
class ReportFiles {
 public:
  // Files named on the command line: opened before the program starts, so that a mistake costs nothing.
  Status open(const std::vector<ReportSpec>& specs);
  // The renderers; a log_path is opened now, for it has the program's process id in its name.
  std::vector<report::Session::Sink> sinks(const report::RunOptions& options, const Globals& globals, pid_t program);
  // What is written counts only if it arrived.
  Status close();

 private:
  struct Closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  struct Target {
    ReportSpec spec;
    std::unique_ptr<std::FILE, Closer> file;  // none: a standard stream
  };
  static std::FILE* stream(Target& target, const report::RunOptions& options, pid_t program);

  std::vector<Target> targets_;
};

}  // namespace pf::cli
