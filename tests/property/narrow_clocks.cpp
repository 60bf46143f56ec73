// Detectors with tiny clocks: a thread whose clock runs out moves to another slot, and nobody may notice.
#include "detect/library_fasttrack.h"
#include "detect/registry.h"
#include "offline/host.h"
#include "property/run_engine.h"

namespace pf {
namespace {

using NarrowEnv = BasicOfflineEnv<BasicEpoch<uint64_t, 3>>;

template <template <class> class... D>
std::unique_ptr<DetectorStage> make(std::string_view name, DetectorList<D...>) {
  std::unique_ptr<DetectorStage> stage;
  ((D<NarrowEnv>::kInfo.name == name ? void(stage = std::make_unique<OfflineHost<D, NarrowEnv>>()) : void()), ...);
  return stage;
}

}  // namespace

std::unique_ptr<DetectorStage> make_narrow(std::string_view name) { return make(name, Detectors{}); }
std::unique_ptr<DetectorStage> make_narrow_with_libraries() {
  return std::make_unique<OfflineHost<LibraryFastTrack, NarrowEnv>>();
}

}  // namespace pf
