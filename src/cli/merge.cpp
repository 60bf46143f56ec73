// photofinish merge: what the shards of one analysis found, as one run over all windows would have told it.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/cli.h"

namespace pf::cli {
namespace {

using Json = nlohmann::ordered_json;

// Of one chain, over all shards.
struct Merged {
  std::vector<Json> races;  // of every window
  std::vector<Json> summaries;
};
using Chains = std::vector<std::pair<std::string, Merged>>;  // in the order of the first file

Merged& of_chain(Chains& chains, const std::string& chain) {
  const auto known = std::ranges::find(chains, chain, &Chains::value_type::first);
  return known != chains.end() ? known->second : chains.emplace_back(chain, Merged{}).second;
}

// What of a line is needed here; an exception says what is missing.
void add_line(Chains& chains, Json line) {
  const std::string type = line.at("type");
  if (type == "race") {
    line.at("window").get<uint64_t>();
    line.at("count").get<uint64_t>();
    line.at("pair").get<std::string>();
    line.at("verdict").get<std::string>();
    of_chain(chains, line.at("chain")).races.push_back(std::move(line));
  } else if (type == "summary") {
    line.at("shard").get<std::string>();
    of_chain(chains, line.at("engine")).summaries.push_back(std::move(line));
  } else {
    throw std::runtime_error("a line of type '" + type + "'");
  }
}

Status read(const std::string& file, Chains& chains) {
  std::ifstream in(file);
  if (!in) return Error{file + ": cannot be opened"};
  uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      add_line(chains, Json::parse(line));
    } catch (const std::exception& e) {
      return Error{fmt::format("{}: line {} is not of the result of a shard: {}", file, number, e.what())};
    }
  }
  return in.bad() ? Status(Error{file + ": cannot be read"}) : Done{};
}

// Every shard of as many as there are, once; and all of the same trace.
Status check_complete(const std::string& chain, const Merged& merged) {
  std::set<std::string> shards;
  for (const Json& s : merged.summaries) {
    if (!shards.insert(s.at("shard")).second)
      return Error{fmt::format("shard {} of '{}' is there twice", s.at("shard").get<std::string>(), chain)};
    if (s.at("events") != merged.summaries.front().at("events")) return Error{"the shards are not of one trace"};
  }
  if (shards.empty()) return Error{fmt::format("no shard of '{}' is complete", chain)};
  const std::string first = *shards.begin();
  const std::string of = first.substr(first.find('/') + 1);
  for (uint64_t i = 0; i < std::stoull(of); ++i) {
    const std::string wanted = fmt::format("{}/{}", i, of);
    if (!shards.contains(wanted)) return Error{fmt::format("shard {} of '{}' is missing", wanted, chain)};
  }
  return Done{};
}

// One for each pair of sites and object, in the order of the windows; the first that is real, else the first. Real ones come first.
std::vector<Json> merge_races(std::vector<Json> races) {
  std::multimap<uint64_t, Json> by_window;
  for (Json& race : races) by_window.emplace(race.at("window").get<uint64_t>(), std::move(race));
  std::vector<Json> merged;
  std::map<std::string, std::size_t> by_pair;
  for (auto& [window, race] : by_window) {
    const auto [entry, is_new] = by_pair.try_emplace(race.at("pair").get<std::string>(), merged.size());
    if (is_new) {
      merged.push_back(std::move(race));
      continue;
    }
    Json& known = merged[entry->second];
    const uint64_t count = known.at("count").get<uint64_t>() + race.at("count").get<uint64_t>();
    if (race.at("verdict") == "real" && known.at("verdict") != "real") known = std::move(race);
    known["count"] = count;
  }
  std::vector<Json> sorted;
  for (const bool real : {true, false}) {
    for (Json& race : merged) {
      if ((race.value("verdict", "") == "real") != real) continue;
      race.erase("window");
      race.erase("pair");
      sorted.push_back(race);
    }
  }
  return sorted;
}

Json merge_summaries(const std::vector<Json>& summaries, const std::vector<Json>& races) {
  Json merged = summaries.front();
  merged.erase("shard");
  for (const Json& s : std::span(summaries).subspan(1)) {
    for (const char* sum : {"dynamic_races", "unknown", "own_seconds", "seconds"})
      merged[sum] = merged.at(sum).is_number_float() ? Json(merged.at(sum).get<double>() + s.at(sum).get<double>())
                                                     : Json(merged.at(sum).get<uint64_t>() + s.at(sum).get<uint64_t>());
    for (const auto& [rule, count] : s.at("rules").items())
      merged["rules"][rule] = merged.at("rules").at(rule).get<uint64_t>() + count.get<uint64_t>();
  }
  merged["races"] = races.size();
  for (auto& [by, count] : merged.at("found_by").items())
    count = std::ranges::count(races, by, [](const Json& r) { return r.value("found_by", ""); });
  merged["potential"] = std::ranges::count(races, "potential", [](const Json& r) { return r.at("verdict"); });
  return merged;
}

Outcome merge(const std::vector<std::string>& files) {
  Chains chains;
  for (const std::string& file : files) {
    if (const Status done = read(file, chains); !done) return done.error();
  }
  if (chains.empty()) return Error{"merge: the files are empty"};
  for (const auto& [chain, merged] : chains) {
    if (const Status complete = check_complete(chain, merged); !complete) return complete.error();
  }
  bool found = false;
  std::vector<Json> summaries;
  for (auto& [chain, merged] : chains) {
    const std::vector<Json> races = merge_races(std::move(merged.races));
    for (const Json& race : races) fmt::print("{}\n", race.dump());
    summaries.push_back(merge_summaries(merged.summaries, races));
    found |= !races.empty();
  }
  for (const Json& s : summaries) fmt::print("{}\n", s.dump());
  return found ? kRacesFound : kSuccess;
}

}  // namespace

void add_merge(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("merge", "Join what the shards of one analysis found");
  auto files = std::make_shared<std::vector<std::string>>();
  verb->add_option("FILE", *files, "What analyze --shard wrote, one file for each shard")->required();
  verb->footer("Writes JSON lines, as one analyze --json over the whole trace would.\n"
               "Exit code: 0 no race, 66 at least one race, 2 wrong usage or bad input.");
  verb->callback([files, verbs] { verbs.run = [files] { return merge(*files); }; });
}

}  // namespace pf::cli
