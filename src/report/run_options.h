// PHOTOFINISH_OPTIONS, as docs/options.md has them: "key=value:key=value", with TSan's names where TSan has one.
// The runtime reads its own part by itself; this is the part of the process that reports.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pf::report {

struct RunOptions {
  int exitcode = 66;                             // when a race was reported; 0: the program's own
  std::string log_path = "stderr";               // of text; a name gets the process id appended
  std::string suppressions;                      // a file
  std::optional<std::string> strip_path_prefix;  // absent: the current folder
  bool report_bugs = true;
  bool report_mutex_bugs = true;
  bool print_suppressions = false;
  int verbosity = 0;

  std::vector<std::string> warnings;  // one line each
};

enum class OptionReader { Parent, Runtime, Nobody };

struct OptionKey {
  std::string_view name;
  OptionReader reader;  // Nobody: a name of TSan's that means nothing here, taken in silence
};

std::span<const OptionKey> option_keys();

// Pairs stand apart by ':', ',' or white space; a value may stand in quotes. What is wrong becomes a warning.
RunOptions parse_run_options(std::string_view text);

// From PHOTOFINISH_OPTIONS, or from TSAN_OPTIONS if that is absent; the defaults hold where they say nothing.
RunOptions run_options_of_environment(std::string_view defaults = {});

}  // namespace pf::report
