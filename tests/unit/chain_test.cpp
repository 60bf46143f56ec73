// Chains as written on the command line, against a catalog that has everything a catalog may have.
#include "detect/chain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace pf {
namespace {

constexpr OptionInfo kOptions[] = {{"rate", "PERCENT", "1%", "how much to keep"},
                                   {"strategy", "NAME", "aas", "which to keep"},
                                   {"mode", "fine|coarse", "fine", "how"},
                                   {"first", "", "off", "a switch"},
                                   {"queue", "N", "1", "how many"}};
constexpr EngineInfo kSieve{"sieve", StageKind::Filter, {}, {}, {}, kOptions, {}};
constexpr EngineInfo kTree{"tree", StageKind::Filter, {}, {}, {}, {}, {}};
constexpr EngineInfo kExact{"exact", StageKind::Detector, {}, {}, {}, kOptions, {}};
constexpr EngineInfo kPlain{"plain", StageKind::Detector, {}, {}, {}, {}, {}};
constexpr std::array<const EngineInfo*, 4> kCatalog = {&kSieve, &kTree, &kExact, &kPlain};

std::string error_of(std::string_view text) {
  const Result<Chain> chain = parse_chain(text, kCatalog);
  return chain ? "" : chain.error().message;
}

TEST(Chain, is_one_detector) {
  const Result<Chain> chain = parse_chain("exact", kCatalog);
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->text, "exact");
  ASSERT_EQ(chain->stages.size(), 1U);
  EXPECT_EQ(chain->detector().info, &kExact);
  EXPECT_TRUE(chain->detector().options.empty());
}

TEST(Chain, has_filters_and_options) {
  const std::string text = "tree:sieve,strategy=a=b,rate=3%:exact,first";
  const Result<Chain> chain = parse_chain(text, kCatalog);
  ASSERT_TRUE(chain) << chain.error().message;
  EXPECT_EQ(chain->text, text);
  ASSERT_EQ(chain->stages.size(), 3U);
  EXPECT_EQ(chain->stages[0].info, &kTree);
  EXPECT_EQ(chain->stages[1].info, &kSieve);
  EXPECT_EQ(chain->stages[1].options, (Options{{"strategy", "a=b"}, {"rate", "3%"}}));
  EXPECT_EQ(chain->stages[2].options, (Options{{"first", "on"}}));
}

TEST(Chain, says_what_is_wrong) {
  EXPECT_EQ(error_of("exactt"), "unknown engine 'exactt', did you mean 'exact'? ('photofinish engines' lists them)");
  EXPECT_EQ(error_of("zzz"), "unknown engine 'zzz' ('photofinish engines' lists them)");
  EXPECT_EQ(error_of(""), "an engine's name is missing in the chain");
  EXPECT_EQ(error_of("tree:"), "an engine's name is missing in the chain");
  EXPECT_EQ(error_of(":exact"), "an engine's name is missing in the chain");
  EXPECT_EQ(error_of("tree::exact"), "an engine's name is missing in the chain");
  EXPECT_EQ(error_of(",first"), "an engine's name is missing in the chain");
  EXPECT_EQ(error_of("tree"), "'tree' is a filter: a detector must follow it, as in tree:fasttrack");
  EXPECT_EQ(error_of("exact:plain"), "'exact' is a detector: it ends the chain, nothing may follow it");
  EXPECT_EQ(error_of("exact,frist"), "unknown option 'frist' of 'exact', did you mean 'first'?");
  EXPECT_EQ(error_of("plain,first"), "unknown option 'first' of 'plain'");
  EXPECT_EQ(error_of("exact,"), "unknown option '' of 'exact'");
  EXPECT_EQ(error_of("exact,first=on"), "option 'first' of 'exact' takes no value");
  EXPECT_EQ(error_of("exact,rate"), "option 'rate' of 'exact' needs a value: rate=PERCENT");
  EXPECT_EQ(error_of("exact,rate="), "option 'rate' of 'exact' needs a value: rate=PERCENT");
  EXPECT_EQ(error_of("exact,mode=fine"), "");
  EXPECT_EQ(error_of("exact,mode=coarse"), "");
  EXPECT_EQ(error_of("exact,mode"), "option 'mode' of 'exact' needs a value: mode=fine|coarse");
  EXPECT_EQ(error_of("exact,mode=fin"), "option 'mode' of 'exact' needs one of fine|coarse, not 'fin'");
  EXPECT_EQ(error_of("exact,queue=12"), "");
  EXPECT_EQ(error_of("exact,queue=1x"), "option 'queue' of 'exact' needs a whole number, not '1x'");
  EXPECT_EQ(error_of("exact,queue=-1"), "option 'queue' of 'exact' needs a whole number, not '-1'");
  EXPECT_EQ(error_of("exact,queue=99999999999"), "option 'queue' of 'exact' needs a whole number, not '99999999999'");
  EXPECT_EQ(error_of("exact,rate=1,rate=2"), "option 'rate' of 'exact' is given twice");
  EXPECT_EQ(error_of(std::string(4097, 'x')), "the chain is longer than 4096 characters");
}

Options any_options(const EngineInfo& info) {
  Options options;
  for (const OptionInfo& o : info.options) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    if (o.name == "mode") {
      options.emplace(o.name, *rc::gen::element<std::string>("fine", "coarse"));
    } else if (o.argument == "N") {
      options.emplace(o.name, std::to_string(*rc::gen::inRange(0, 1000)));
    } else {
      const auto value = rc::gen::container<std::string>(rc::gen::element('a', '9', '%', '=', '.', '-'));
      options.emplace(o.name, o.argument.empty() ? "on" : *rc::gen::nonEmpty(value));
    }
  }
  return options;
}

RC_GTEST_PROP(Chain, is_understood_as_it_is_written, ()) {
  const auto filters = *rc::gen::container<std::vector<const EngineInfo*>>(rc::gen::element(&kSieve, &kTree));
  std::vector<StageSpec> stages;
  stages.reserve(filters.size() + 1);
  for (const EngineInfo* filter : filters) stages.push_back({filter, any_options(*filter)});
  const EngineInfo* detector = *rc::gen::element(&kExact, &kPlain);
  stages.push_back({detector, any_options(*detector)});
  std::string text;
  for (const StageSpec& stage : stages) {
    text += (text.empty() ? "" : ":") + std::string(stage.info->name);
    for (const auto& [name, value] : stage.options) text += "," + name + (name == "first" ? "" : "=" + value);
  }
  RC_PRE(text.size() <= 4096U);
  const Result<Chain> chain = parse_chain(text, kCatalog);
  RC_ASSERT(chain);
  RC_ASSERT(chain->stages.size() == stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    RC_ASSERT(chain->stages[i].info == stages[i].info);
    RC_ASSERT(chain->stages[i].options == stages[i].options);
  }
}

}  // namespace
}  // namespace pf
