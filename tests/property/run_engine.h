// Runs a detector over a trace whose sites are unique (site of event i = i + 1) and gives back its reports as pairs of
// event indices, after checking that each report tells the truth about its two events.
#pragma once
#include <map>
#include <memory>
#include <span>

#include "offline/stage.h"
#include "property/guarantees.h"

namespace pf {

Reports run_engine(DetectorStage& engine, std::span<const Event> trace);

// Sites need not be unique here: what is reported of each pair of sites (the smaller first) and variable.
struct SitePair {
  uint32_t low, high;
  uint64_t variable;
  friend auto operator<=>(const SitePair&, const SitePair&) = default;
};
std::map<SitePair, Verdict> run_by_site(DetectorStage& engine, std::span<const Event> trace);

// The detector of that name with clocks of three bits, which run out after seven ticks.
std::unique_ptr<DetectorStage> make_narrow(std::string_view name);
// fasttrack,libs=barrier likewise.
std::unique_ptr<DetectorStage> make_narrow_with_libraries();

}  // namespace pf
