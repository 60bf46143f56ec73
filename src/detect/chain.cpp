#include "detect/chain.h"

#include <algorithm>

#include "core/duration.h"
#include "core/nearest.h"
#include "core/periods.h"

namespace pf {
namespace {

constexpr std::size_t kMaxChain = 4096;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string quoted(std::string_view s) { return "'" + std::string(s) + "'"; }

std::string suggestion(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view best = nearest(name, known);
  return best.empty() ? "" : ", did you mean " + quoted(best) + "?";
}

bool is_whole_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() < 10 && std::ranges::all_of(text, is_digit);
}

// What is wrong with a value of that kind, after "needs"; nothing if it is right.
std::string wrong_value(std::string_view kind, std::string_view value) {
  if (kind == "N" && !is_whole_number(value)) return "a whole number";
  if (kind == "R" && !parse_rate(value)) return "a rate from 0% to 100%";
  if (kind == "T" && !parse_duration(value)) return "a time such as 15ms";
  if (kind.find('|') == kind.npos) return {};
  const std::vector<std::string_view> words = split(kind, '|');
  return std::ranges::find(words, value) == words.end() ? "one of " + std::string(kind) : "";
}

Status add_option(StageSpec& stage, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const bool has_value = equals != std::string_view::npos;
  const std::string where = " of " + quoted(stage.info->name);
  const auto& options = stage.info->options;
  const auto o = std::ranges::find(options, name, &OptionInfo::name);
  if (o == options.end()) {
    std::vector<std::string_view> known(options.size());
    std::ranges::transform(options, known.begin(), &OptionInfo::name);
    return Error{"unknown option " + quoted(name) + where + suggestion(name, known)};
  }
  if (o->argument.empty() && has_value) return Error{"option " + quoted(name) + where + " takes no value"};
  if (!o->argument.empty() && (!has_value || equals + 1 == text.size())) {
    return Error{"option " + quoted(name) + where + " needs a value: " + std::string(name) + "=" +
                 std::string(o->argument)};
  }
  const std::string_view value = has_value ? text.substr(equals + 1) : "on";
  if (const std::string needed = wrong_value(o->argument, value); !needed.empty()) {
    return Error{"option " + quoted(name) + where + " needs " + needed + ", not " + quoted(value)};
  }
  const bool fresh = stage.options.emplace(std::string(name), value).second;
  if (!fresh) return Error{"option " + quoted(name) + where + " is given twice"};
  return Done{};
}

Result<StageSpec> parse_stage(std::string_view text, Catalog catalog) {
  const std::vector<std::string_view> parts = split(text, ',');
  const Result<const EngineInfo*> info = find_engine(parts.front(), catalog);
  if (!info) return info.error();
  StageSpec stage{*info, {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Status added = add_option(stage, parts[i]);
    if (!added) return added.error();
  }
  return stage;
}

}  // namespace

Result<const EngineInfo*> find_engine(std::string_view name, Catalog catalog) {
  std::vector<std::string_view> known;
  for (const EngineInfo* info : catalog) {
    if (info->name == name) return info;
    known.push_back(info->name);
  }
  if (name.empty()) return Error{"an engine's name is missing in the chain"};
  return Error{"unknown engine " + quoted(name) + suggestion(name, known) + " ('photofinish engines' lists them)"};
}

Result<Chain> parse_chain(std::string_view text, Catalog catalog) {
  if (text.size() > kMaxChain) return Error{"the chain is longer than 4096 characters"};
  Chain chain{std::string(text), {}};
  for (const std::string_view part : split(text, ':')) {
    Result<StageSpec> stage = parse_stage(part, catalog);
    if (!stage) return stage.error();
    chain.stages.push_back(std::move(*stage));
  }
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    const bool last = i + 1 == chain.stages.size();
    const EngineInfo& info = *chain.stages[i].info;
    if (last && info.kind == StageKind::Filter) {
      return Error{quoted(info.name) + " is a filter: a detector must follow it, as in " + std::string(info.name) +
                   ":fasttrack"};
    }
    if (!last && info.kind != StageKind::Filter) {
      return Error{quoted(info.name) + (info.kind == StageKind::Detector ? " is a detector" : " is a predictor") +
                   ": it ends the chain, nothing may follow it"};
    }
    if (last && i != 0 && info.kind == StageKind::Predictor) {
      return Error{quoted(info.name) +
                   " is a predictor: it needs every event of the trace, no filter may stand before it"};
    }
  }
  return chain;
}

}  // namespace pf
