// What the verbs share: global flags, exit codes, and how an error ends the program. The only room that parses
// arguments; one file per verb.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/result.h"

namespace pf::cli {

enum ExitCode : int { kSuccess = 0, kBadInput = 2, kRacesFound = 66 };

struct Globals {
  bool quiet = false;
  int verbose = 0;
  std::string color = "auto";

  bool colored(int fd = 1) const;  // standard output, or another
  // A progress line goes to standard error when that is a terminal.
  bool progress() const;
};

// A verb's work: its exit code, or the one line that says what is wrong.
using Outcome = Result<int>;

// Each verb adds itself; `run` is set to its work if it is the one chosen.
struct Verbs {
  CLI::App& app;
  Globals& globals;
  std::function<Outcome()>& run;
  const std::vector<std::string>& command;  // of `run`: the program and its arguments, which are not ours to parse
};

void add_analyze(const Verbs& verbs);
void add_attach(const Verbs& verbs);
void add_collect(const Verbs& verbs);
void add_confirm(const Verbs& verbs);
void add_ctl(const Verbs& verbs);
void add_engines(const Verbs& verbs);
void add_merge(const Verbs& verbs);
void add_record(const Verbs& verbs);
void add_run(const Verbs& verbs);
void add_sample(const Verbs& verbs);
void add_trace(const Verbs& verbs);
void add_wrappers(const Verbs& verbs);
void add_trace_info(CLI::App& trace, const Verbs& verbs);
void add_trace_cat(CLI::App& trace, const Verbs& verbs);
void add_trace_convert(CLI::App& trace, const Verbs& verbs);
void add_trace_generate(CLI::App& trace, const Verbs& verbs);
void add_trace_check(CLI::App& trace, const Verbs& verbs);

// Counts as people write them, "1000000", "1e6" or "10M", become digits. For CLI11's transform: returns what is wrong.
std::string expand_count(std::string& text);

}  // namespace pf::cli
