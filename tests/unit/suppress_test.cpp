// Suppressions: patterns, what each kind looks at, and lines that are wrong.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/suppress.h"

namespace pf::report {
namespace {

Frame frame(std::string function, std::string file, std::string module) {
  return {.location = {}, .function = std::move(function), .file = std::move(file), .module = std::move(module)};
}

Race some_race() {
  Race r;
  r.location.kind = "global";
  r.location.name = "bank::total";
  r.first.stack = {frame("bank::deposit", "src/bank.cpp", "bank"), frame("main", "src/main.cpp", "bank")};
  r.first.stack[0].signature = "bank::deposit(int)";
  r.second.stack = {frame("hash", "hash.c", "libhash.so.1"), frame("audit", "src/audit.cpp", "bank")};
  return r;
}

bool covers(const std::string& text, const Race& race) { return Suppressions::parse(text).covers(race); }

TEST(Pattern, is_found_anywhere_unless_it_is_anchored) {
  EXPECT_TRUE(matches_pattern("posit", "deposit"));
  EXPECT_FALSE(matches_pattern("^posit", "deposit"));
  EXPECT_TRUE(matches_pattern("^dep", "deposit"));
  EXPECT_TRUE(matches_pattern("sit$", "deposit"));
  EXPECT_FALSE(matches_pattern("dep$", "deposit"));
  EXPECT_TRUE(matches_pattern("^deposit$", "deposit"));
  EXPECT_FALSE(matches_pattern("^deposit$", "deposits"));
  EXPECT_FALSE(matches_pattern("deposit", ""));
  EXPECT_TRUE(matches_pattern("a$b", "xa$by"));  // only the last one is an anchor
}

TEST(Pattern, stars_stand_for_any_text) {
  EXPECT_TRUE(matches_pattern("^a*c$", "abbbc"));
  EXPECT_TRUE(matches_pattern("^a*c$", "ac"));
  EXPECT_FALSE(matches_pattern("^a*c$", "abcd"));
  EXPECT_TRUE(matches_pattern("^*b*b*$", "abab"));
  EXPECT_FALSE(matches_pattern("b*b*b", "abab"));
  EXPECT_TRUE(matches_pattern("*", ""));
}

TEST(Pattern, takes_no_exponential_time) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "*a";
  EXPECT_FALSE(matches_pattern(pattern + "b", std::string(4000, 'a')));
}

TEST(Suppression, of_a_race_looks_at_every_frame_and_at_the_global) {
  for (const char* s : {"race:deposit", "race:^bank::deposit$", "race:deposit(int)", "race:main.cpp", "race:libhash",
                        "race:audit", "race:bank::total", " race: deposit # ", "race:^src/*.cpp$"}) {
    EXPECT_EQ(covers(s, some_race()), std::string(s).find('#') == std::string::npos) << s;
  }
  EXPECT_FALSE(covers("race:withdraw\nmutex:deposit\nthread:deposit\nsignal:deposit\ndeadlock:deposit", some_race()));
}

TEST(Suppression, of_the_top_looks_at_the_top_alone) {
  EXPECT_TRUE(covers("race_top:deposit", some_race()));
  EXPECT_TRUE(covers("race_top:hash.c", some_race()));
  EXPECT_FALSE(covers("race_top:audit", some_race()));
  EXPECT_FALSE(covers("race_top:bank::total", some_race()));
}

TEST(Suppression, of_a_library_looks_at_who_made_the_access) {
  EXPECT_TRUE(covers("called_from_lib:libhash.so", some_race()));
  EXPECT_FALSE(covers("called_from_lib:hash.c", some_race()));
}

TEST(Suppression, of_a_misuse_goes_by_what_it_is) {
  Misuse m;
  m.what = "unlock of a mutex that is not locked";
  m.stack = {frame("deposit", "bank.cpp", "bank")};
  EXPECT_TRUE(Suppressions::parse("mutex:deposit").covers(m));
  EXPECT_FALSE(Suppressions::parse("race:deposit\nsignal:deposit").covers(m));
  m.what = "a signal handler that changes errno";
  EXPECT_TRUE(Suppressions::parse("signal:deposit").covers(m));
  m.what = "a thread that was never joined";
  EXPECT_TRUE(Suppressions::parse("thread:deposit").covers(m));
  m.what = "lock order that may deadlock";
  EXPECT_TRUE(Suppressions::parse("deadlock:deposit").covers(m));
}

TEST(Suppressions, count_their_hits) {
  Suppressions s = Suppressions::parse("race:nothing\nrace:deposit\nrace:audit\n");
  EXPECT_TRUE(s.covers(some_race()));
  EXPECT_TRUE(s.covers(some_race()));
  EXPECT_EQ(s.all()[0].hits, 0U);
  EXPECT_EQ(s.all()[1].hits, 2U);
  EXPECT_EQ(s.all()[2].hits, 0U);
}

TEST(Suppressions, tell_what_is_wrong_and_keep_the_rest) {
  Suppressions s = Suppressions::parse("# ours\n\nrase:a\r\nrace\nrace:\nrace:deposit\n  # end");
  EXPECT_EQ(s.problems(), (std::vector<std::string>{"line 3: unknown kind of suppression 'rase'",
                                                    "line 4: expected kind:pattern, found 'race'",
                                                    "line 5: no pattern after 'race:'"}));
  EXPECT_EQ(s.all().size(), 1U);
  EXPECT_TRUE(s.covers(some_race()));
}

TEST(Suppressions, that_cannot_be_read_are_an_error) {
  EXPECT_EQ(Suppressions::load("/none/file").error().message,
            "cannot read suppressions from /none/file: No such file or directory");
}

RC_GTEST_PROP(Pattern, finds_itself_in_any_text, (const std::string& before, const std::string& after)) {
  RC_ASSERT(matches_pattern("needle", before + "needle" + after));
  RC_ASSERT(matches_pattern("^*needle*$", before + "needle" + after));
}

}  // namespace
}  // namespace pf::report
