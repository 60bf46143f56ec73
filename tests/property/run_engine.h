// Runs a detector over a trace whose sites are unique (site of event i = i + 1) and gives back its reports as pairs of
// event indices, after checking that each report tells the truth about its two events.
#pragma once
#include <memory>
#include <set>
#include <span>
#include <string>

#include "offline/stage.h"
#include "property/oracle.h"

namespace pf {

struct Reports {
  std::set<oracle::Race> pairs;
  std::string lie;  // the first wrong detail of a report, empty if there is none
};

Reports run_engine(DetectorStage& engine, std::span<const Event> trace);

// The detector of that name with clocks of three bits, which run out after seven ticks.
std::unique_ptr<DetectorStage> make_narrow(std::string_view name);

}  // namespace pf
