#include "offline/catalog.h"

#include <array>

#include "detect/registry.h"
#include "offline/host.h"

namespace pf {
namespace {

template <template <class> class... D>
constexpr auto infos(DetectorList<D...>) {
  return std::array<const EngineInfo*, sizeof...(D)>{&D<OfflineEnv>::kInfo...};
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

std::unique_ptr<DetectorStage> make_detector(const StageSpec& spec) { return make(spec, Detectors{}); }

}  // namespace pf
