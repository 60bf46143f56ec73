#include "offline/catalog.h"

#include <array>
#include <cstdlib>

#include "detect/registry.h"
#include "filter/tree.h"
#include "offline/host.h"

namespace pf {
namespace {

template <template <class> class... D>
constexpr auto infos(DetectorList<D...>) {
  return std::array<const EngineInfo*, sizeof...(D) + 1>{&D<OfflineEnv>::kInfo..., &kTreeInfo};
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

}  // namespace

Catalog offline_catalog() { return kInfos; }

std::unique_ptr<FilterStage> make_filter(const StageSpec& spec) {
  const auto number = [&](std::string_view name, uint64_t fallback) {
    const auto it = spec.options.find(name);
    return it == spec.options.end() ? fallback : std::strtoull(it->second.c_str(), nullptr, 10);
  };
  TreeOptions options;
  options.exact = spec.options.contains("exact");
  options.two_threads = number("threads", 1) == 2;
  options.memory = number("memory", 64) << 20;
  return std::make_unique<TreeFilter>(options);
}

std::vector<std::unique_ptr<FilterStage>> make_filters(const Chain& chain) {
  std::vector<std::unique_ptr<FilterStage>> filters;
  for (const StageSpec& stage : std::span(chain.stages).first(chain.stages.size() - 1)) {
    filters.push_back(make_filter(stage));
  }
  return filters;
}

std::unique_ptr<DetectorStage> make_detector(const StageSpec& spec) { return make(spec, Detectors{}); }

}  // namespace pf
