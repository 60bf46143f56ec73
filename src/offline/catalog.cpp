#include "offline/catalog.h"

#include <array>
#include <cstdlib>

#include "detect/collision.h"
#include "detect/library_fasttrack.h"
#include "detect/registry.h"
#include "filter/carisma.h"
#include "filter/literace.h"
#include "filter/tree.h"
#include "offline/host.h"
#include "offline/prediction.h"
#include "predict/engines.h"

namespace pf {
namespace {

template <template <class> class... D>
constexpr auto infos(DetectorList<D...>) {
  return std::array{&D<OfflineEnv>::kInfo..., &kCollisionInfo,      &predict::kHbInfo,
                    &predict::kCpInfo,        &predict::kSyncpInfo, &predict::kOsrInfo,
                    &predict::kMcInfo,        &predict::kRditInfo,  &kTreeInfo,
                    &kLiteRaceInfo,           &kCarismaInfo};
}
constexpr auto kInfos = infos(Detectors{});

consteval bool names_are_unique() {
  for (std::size_t i = 0; i < kInfos.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kInfos[i]->name == kInfos[j]->name) return false;
    }
  }
  return true;
}
static_assert(names_are_unique());

template <template <class> class... D>
std::unique_ptr<DetectorStage> make(const StageSpec& spec, DetectorList<D...>) {
  std::unique_ptr<DetectorStage> stage;
  ((&D<OfflineEnv>::kInfo == spec.info ? void(stage = std::make_unique<OfflineHost<D>>(spec.options)) : void()), ...);
  return stage;
}

// The options of a chain were checked when it was parsed.
uint64_t number(const Options& options, std::string_view name, uint64_t fallback) {
  const auto it = options.find(name);
  return it == options.end() ? fallback : std::strtoull(it->second.c_str(), nullptr, 10);
}

std::unique_ptr<FilterStage> make_tree(const Options& given) {
  TreeOptions options;
  options.exact = given.contains("exact");
  options.two_threads = number(given, "threads", 1) == 2;
  options.memory = number(given, "memory", 64) << 20;
  return std::make_unique<TreeFilter>(options);
}

std::unique_ptr<FilterStage> make_literace(const Options& given) {
  LiteRaceOptions options;
  options.burst = number(given, "burst", options.burst);
  options.seed = number(given, "seed", options.seed);
  return std::make_unique<LiteRaceFilter>(options);
}

}  // namespace

Catalog offline_catalog() { return kInfos; }

CarismaOptions carisma_options(const Options& given) {
  CarismaOptions options;
  const auto rate = [&](std::string_view name, uint64_t fallback) {
    const auto it = given.find(name);
    return it == given.end() ? fallback : parse_rate(it->second).value_or(fallback);
  };
  const auto word = [&](std::string_view name) {
    const auto it = given.find(name);
    return it == given.end() ? "" : it->second;
  };
  if (word("strategy") == "cls") options.law.strategy = CarismaStrategy::Cls;
  if (word("strategy") == "fls") options.law.strategy = CarismaStrategy::Fls;
  options.law.rate = rate("rate", options.law.rate);
  options.law.min = rate("min", options.law.min);
  options.state = word("state");
  options.depth = number(given, "depth", options.depth);
  options.seed = number(given, "seed", options.seed);
  return options;
}

std::unique_ptr<FilterStage> make_filter(const StageSpec& spec) {
  if (spec.info == &kLiteRaceInfo) return make_literace(spec.options);
  if (spec.info == &kCarismaInfo) return std::make_unique<CarismaFilter>(carisma_options(spec.options));
  return make_tree(spec.options);
}

Filters make_filters(const Chain& chain) {
  Filters filters;
  for (const StageSpec& stage : std::span(chain.stages).first(chain.stages.size() - 1)) {
    filters.push_back(make_filter(stage));
  }
  return filters;
}

Status start_all(const Filters& filters, const StableNames& names) {
  for (const auto& filter : filters) {
    if (const Status started = filter->start(names); !started) return started;
  }
  return Done{};
}

Status finish_all(const Filters& filters) {
  for (const auto& filter : filters) {
    if (const Status finished = filter->finish(); !finished) return finished;
  }
  return Done{};
}

std::unique_ptr<DetectorStage> make_detector(const StageSpec& spec) {
  if (is_predictor(*spec.info)) return make_predictor(spec);
  if (spec.options.contains("libs")) return std::make_unique<OfflineHost<LibraryFastTrack>>(spec.options);
  return make(spec, Detectors{});
}

}  // namespace pf
