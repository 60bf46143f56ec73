// "Did you mean": the distance of two words, and which known word is near enough.
#include "core/nearest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pf {
namespace {

TEST(EditDistance, counts_letters_added_dropped_and_replaced) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("fastrack", "fasttrack"), 1U);
  EXPECT_EQ(edit_distance("abc", "cab"), 2U);
}

// Its definition, which is too slow for use.
std::size_t defined_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::size_t replaced = defined_distance(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1);
  return std::min({replaced, defined_distance(a.substr(1), b) + 1, defined_distance(a, b.substr(1)) + 1});
}

RC_GTEST_PROP(EditDistance, is_what_the_definition_says, ()) {
  const auto word = [] {
    return *rc::gen::resize(6, rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c')));
  };
  const std::string a = word(), b = word();
  RC_ASSERT(edit_distance(a, b) == defined_distance(a, b));
}

TEST(Nearest, guesses_what_was_meant) {
  const std::vector<std::string_view> known = {"fasttrack", "djit", "generic", "shb"};
  EXPECT_EQ(nearest("fastrack", known), "fasttrack");
  EXPECT_EQ(nearest("fast", known), "fasttrack") << "the beginning of a word";
  EXPECT_EQ(nearest("dijt", known), "djit");
  EXPECT_EQ(nearest("genric", known), "generic");
  EXPECT_EQ(nearest("sbh", known), "shb");
  EXPECT_EQ(nearest("fasttrack", known), "fasttrack");
}

TEST(Nearest, does_not_guess_wildly) {
  const std::vector<std::string_view> known = {"fasttrack", "djit", "generic", "shb"};
  EXPECT_EQ(nearest("xyzzy", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("/home/user/trace.std", known), "");
  EXPECT_EQ(nearest("word", {}), "");
}

TEST(Nearest, is_quick_with_a_long_word) {
  EXPECT_EQ(nearest(std::string(std::size_t{1} << 20, 'x'), {"fasttrack"}), "");
}

}  // namespace
}  // namespace pf
