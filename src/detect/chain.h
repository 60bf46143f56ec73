// Chains as written on the command line: `tree:fasttrack`, `pacer,rate=3%`. Stage names joined by ':', options after
// commas; every stage but the last is a filter, the last a detector. Parsing checks names and options against
// a catalog and says what the user may have meant.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine_info.h"
#include "core/result.h"

namespace pf {

using Options = std::map<std::string, std::string, std::less<>>;  // a switch has the value "on"

struct StageSpec {
  const EngineInfo* info;
  Options options;
};

struct Chain {
  std::string text;  // as written
  std::vector<StageSpec> stages;

  const StageSpec& detector() const { return stages.back(); }
};

using Catalog = std::span<const EngineInfo* const>;

Result<Chain> parse_chain(std::string_view text, Catalog catalog);

// The entry of that name, or an error that suggests the nearest one.
Result<const EngineInfo*> find_engine(std::string_view name, Catalog catalog);

}  // namespace pf
