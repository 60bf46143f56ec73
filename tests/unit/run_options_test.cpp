// PHOTOFINISH_OPTIONS: what is read, what is quoted, and what is wrong but not fatal.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "report/run_options.h"

namespace pf::report {
namespace {

TEST(RunOptions, have_defaults) {
  const RunOptions o = parse_run_options("");
  EXPECT_EQ(o.exitcode, 66);
  EXPECT_EQ(o.log_path, "stderr");
  EXPECT_TRUE(o.report_bugs);
  EXPECT_FALSE(o.strip_path_prefix);
  EXPECT_TRUE(o.warnings.empty());
}

TEST(RunOptions, stand_apart_by_colons_commas_or_blanks) {
  for (const char* text : {"exitcode=3:verbosity=2:report_bugs=0", "exitcode=3,verbosity=2 report_bugs=false",
                           " exitcode=3 ::\n\tverbosity=2,, report_bugs=no:"}) {
    const RunOptions o = parse_run_options(text);
    EXPECT_EQ(o.exitcode, 3) << text;
    EXPECT_EQ(o.verbosity, 2) << text;
    EXPECT_FALSE(o.report_bugs) << text;
    EXPECT_TRUE(o.warnings.empty()) << text;
  }
}

TEST(RunOptions, may_be_quoted) {
  const RunOptions o = parse_run_options(R"(suppressions="/my files/a:b":strip_path_prefix='/src/':log_path="")");
  EXPECT_EQ(o.suppressions, "/my files/a:b");
  EXPECT_EQ(o.strip_path_prefix, "/src/");
  EXPECT_EQ(o.log_path, "");
  EXPECT_TRUE(o.warnings.empty());
}

TEST(RunOptions, warn_of_what_is_wrong_and_read_the_rest) {
  using Warnings = std::vector<std::string>;
  RunOptions o = parse_run_options("exitcod=1:exitcode=4");
  EXPECT_EQ(o.warnings, Warnings{"unknown key 'exitcod', did you mean 'exitcode'?"});
  EXPECT_EQ(o.exitcode, 4);
  o = parse_run_options("exitcode=256:exitcode=x:exitcode=:report_bugs=maybe:verbosity:log_path='abc");
  EXPECT_EQ(o.warnings,
            (Warnings{"exitcode is a number from 0 to 255, not '256'", "exitcode is a number from 0 to 255, not 'x'",
                      "exitcode is a number from 0 to 255, not ''", "report_bugs is 0 or 1, not 'maybe'",
                      "'verbosity' has no value", "the quote of 'abc' does not end"}));
  EXPECT_EQ(o.exitcode, 66);
}

TEST(RunOptions, of_the_runtime_and_of_tsan_are_known) {
  EXPECT_TRUE(parse_run_options("halt_on_error=1:history_size=7:symbolize=0:color=always").warnings.empty());
}

TEST(RunOptions, of_ours_win_over_those_of_tsan) {
  setenv("TSAN_OPTIONS", "exitcode=1:nonsense=2", 1);
  setenv("PHOTOFINISH_OPTIONS", "exitcode=2", 1);
  EXPECT_EQ(run_options_of_environment().exitcode, 2);
  unsetenv("PHOTOFINISH_OPTIONS");
  const RunOptions o = run_options_of_environment();
  EXPECT_EQ(o.exitcode, 1);
  EXPECT_EQ(o.warnings, std::vector<std::string>{"TSAN_OPTIONS: unknown key 'nonsense'"});
  unsetenv("TSAN_OPTIONS");
  EXPECT_EQ(run_options_of_environment().exitcode, 66);
}

RC_GTEST_PROP(RunOptions, any_text_is_read, (const std::string& text)) {
  const RunOptions o = parse_run_options(text);
  RC_ASSERT(o.exitcode >= 0 && o.exitcode <= 255);
}

}  // namespace
}  // namespace pf::report
