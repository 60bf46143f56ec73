// From a detector's findings to reports: ids become the names of the trace's dictionary.
#pragma once
#include "detect/chain.h"
#include "offline/stage.h"
#include "report/race.h"
#include "trace/dictionary.h"

namespace pf::cli {

report::Race name_race(const FoundRace& found, const Chain& chain, const Dictionary& names);

}  // namespace pf::cli
