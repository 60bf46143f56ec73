#include "cli/reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace pf::cli {

namespace fs = std::filesystem;

namespace {

void warn(const std::string& text) { std::fputs(("photofinish: " + text + "\n").c_str(), stderr); }

Error cannot_write(const std::string& file) { return {fmt::format("cannot write {}: {}", file, std::strerror(errno))}; }

}  // namespace

// Absolute, for the program may change its folder.
Result<RunDirectory> RunDirectory::make() {
  const char* parent = std::getenv("TMPDIR");
  std::error_code error;
  fs::path path = fs::absolute(parent != nullptr && *parent != '\0' ? parent : "/tmp", error);
  std::string name = path / "photofinish-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return Error{fmt::format("cannot make a run directory in {}: {}", path.string(), std::strerror(errno))};
  }
  return RunDirectory(name);
}

RunDirectory::~RunDirectory() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Result<std::vector<ReportSpec>> parse_report_specs(const std::vector<std::string>& texts) {
  std::vector<ReportSpec> specs;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':');
    ReportSpec spec{text.substr(0, colon), colon == text.npos ? "" : text.substr(colon + 1)};
    if (spec.format != "text" && spec.format != "json") {
      return Error{fmt::format("unknown report format '{}' (text and json are known)", spec.format)};
    }
    if (colon != text.npos && spec.file.empty()) return Error{fmt::format("-r {}: no file after the colon", text)};
    specs.push_back(std::move(spec));
  }
  if (specs.empty()) specs.push_back({"text", ""});
  return specs;
}

report::RunOptions read_run_options(const Globals& globals) {
  report::RunOptions options = report::run_options_of_environment();
  for (const std::string& warning : options.warnings) warn(warning);
  options.verbosity = std::max(options.verbosity, globals.verbose);
  return options;
}

// A relative name is looked for in the current folder, then next to the program.
Result<report::Suppressions> read_suppressions(const report::RunOptions& options, const std::string& program) {
  if (options.suppressions.empty()) return report::Suppressions();
  std::error_code error;
  fs::path file = options.suppressions;
  const fs::path beside = fs::path(program).parent_path() / file;
  if (!fs::exists(file, error) && fs::exists(beside, error)) file = beside;
  Result<report::Suppressions> suppressions = report::Suppressions::load(file);
  if (!suppressions) return suppressions.error();
  for (const std::string& problem : suppressions->problems()) warn(problem);
  return suppressions;
}

Status ReportFiles::open(const std::vector<ReportSpec>& specs) {
  for (const ReportSpec& spec : specs) {
    Target target{spec, nullptr};
    if (!spec.file.empty()) {
      target.file.reset(std::fopen(spec.file.c_str(), "we"));
      if (!target.file) return cannot_write(spec.file);
    }
    targets_.push_back(std::move(target));
  }
  return Done{};
}

std::FILE* ReportFiles::stream(Target& target, const report::RunOptions& options, pid_t program) {
  if (target.file) return target.file.get();
  if (target.spec.format == "json" || options.log_path == "stdout") return stdout;
  if (options.log_path == "stderr" || options.log_path.empty()) return stderr;
  target.spec.file = fmt::format("{}.{}", options.log_path, program);
  target.file.reset(std::fopen(target.spec.file.c_str(), "we"));
  if (target.file) return target.file.get();
  warn(cannot_write(target.spec.file).message);
  return stderr;
}

std::vector<report::Session::Sink> ReportFiles::sinks(const report::RunOptions& options, const Globals& globals,
                                                      pid_t program) {
  std::vector<report::Session::Sink> sinks;
  for (Target& target : targets_) {
    std::FILE* out = stream(target, options, program);
    const std::string standard = out == stdout ? "to standard output" : "to standard error";
    const std::string name = target.file ? target.spec.file : standard;
    if (target.spec.format == "json") {
      sinks.push_back({report::make_json_renderer(out), out, name, false});
    } else {
      const report::TextStyle style{
          .color = globals.colored(fileno(out)), .verbose = options.verbosity > 0, .quiet = globals.quiet};
      sinks.push_back({report::make_text_renderer(out, style), out, name, true});
    }
  }
  return sinks;
}

Status ReportFiles::close() {
  Status status = Done{};
  for (Target& target : targets_) {
    if (!target.file) continue;
    const bool failed = std::ferror(target.file.get()) != 0;
    if (std::fclose(target.file.release()) != 0 || failed) status = cannot_write(target.spec.file);
  }
  return status;
}

}  // namespace pf::cli
