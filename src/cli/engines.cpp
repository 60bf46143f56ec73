// photofinish engines: what detectors, predictors and filters there are, with options, guarantee and source.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "offline/catalog.h"

namespace pf::cli {
namespace {

std::string_view kind_name(const EngineInfo& e) {
  switch (e.kind) {
    case StageKind::Filter: return "filter";
    case StageKind::Detector: return "detector";
    case StageKind::Predictor: return "predictor";
  }
  return {};
}

nlohmann::ordered_json to_json(const EngineInfo& e) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const OptionInfo& o : e.options) {
    options.push_back({{"name", o.name}, {"argument", o.argument}, {"default", o.fallback}, {"help", o.help}});
  }
  return {{"name", e.name},     {"kind", kind_name(e)}, {"summary", e.summary}, {"guarantee", e.guarantee},
          {"source", e.source}, {"offline", e.offline}, {"options", options}};
}

void print_details(const EngineInfo& e) {
  fmt::print("{} ({})\n  {}\n  guarantee: {}\n  source:    {}\n", e.name, kind_name(e), e.summary, e.guarantee,
             e.source);
  if (!e.options.empty()) fmt::print("  options:\n");
  for (const OptionInfo& o : e.options) {
    const std::string form = o.argument.empty() ? std::string(o.name) : fmt::format("{}={}", o.name, o.argument);
    fmt::print("    {:<16} {} (default: {})\n", form, o.help, o.fallback);
  }
}

Outcome engines(const std::string& name, bool json) {
  if (!name.empty()) {
    const Result<const EngineInfo*> found = find_engine(name, offline_catalog());
    if (!found) return found.error();
    json ? fmt::print("{}\n", to_json(**found).dump()) : print_details(**found);
    return kSuccess;
  }
  for (const EngineInfo* e : offline_catalog()) {
    json ? fmt::print("{}\n", to_json(*e).dump()) : fmt::print("{:<12} {:<9} {}\n", e->name, kind_name(*e), e->summary);
  }
  if (!json) fmt::print("\n'photofinish engines NAME' tells guarantee, source and options of one.\n");
  return kSuccess;
}

}  // namespace

void add_engines(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("engines", "List the engines, or tell all about one");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("NAME", *name, "The engine to tell about");
  verb->add_flag("--json", *json, "One JSON object per line");
  verb->callback([=] { verbs.run = [=] { return engines(*name, *json); }; });
}

}  // namespace pf::cli
