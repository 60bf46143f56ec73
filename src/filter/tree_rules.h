// What the tree filter can make of an access, over traces and inside programs.
#pragma once
#include <string_view>

namespace pf {

namespace tree_rules {
enum Rule : unsigned { Fresh, SameThread, TwoThreads, TooLong, Resting, kCount };
inline constexpr unsigned kOfTraces = Resting;  // the ones before are those of both
}  // namespace tree_rules
using TreeRule = tree_rules::Rule;
inline constexpr std::string_view kTreeRules[tree_rules::kCount] = {
    "first in its context", "dropped: seen by this thread", "dropped: seen by two threads", "longer than eight bytes",
    "passed: too few were dropped"};
constexpr bool drops(TreeRule r) { return r == tree_rules::SameThread || r == tree_rules::TwoThreads; }

}  // namespace pf
