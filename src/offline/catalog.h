// The stages that a trace can be run through, and how to make one from a chain.
#pragma once
#include <memory>

#include "detect/chain.h"
#include "filter/carisma.h"
#include "filter/filter.h"
#include "offline/stage.h"

namespace pf {

Catalog offline_catalog();

CarismaOptions carisma_options(const Options& given);

std::unique_ptr<DetectorStage> make_detector(const StageSpec& spec);
std::unique_ptr<FilterStage> make_filter(const StageSpec& spec);
// Those of a chain, in order.
using Filters = std::vector<std::unique_ptr<FilterStage>>;
Filters make_filters(const Chain& chain);
Status start_all(const Filters& filters, const StableNames& names);
Status finish_all(const Filters& filters);

}  // namespace pf
