// From a detector's findings to reports: ids become the names of the trace's dictionary.
#pragma once
#include "detect/chain.h"
#include "filter/filter.h"
#include "offline/stage.h"
#include "report/race.h"
#include "trace/dictionary.h"

namespace pf::cli {

report::Race name_race(const FoundRace& found, const Chain& chain, const Dictionary& names);

// Hashes of the names: the same for the same place of a program, whatever number a trace gives it.
class TraceNames final : public StableNames {
 public:
  explicit TraceNames(const Dictionary& names) : names_(names) {}
  uint64_t site(SiteId site) const override;
  uint64_t variable(uint64_t address) const override;

 private:
  const Dictionary& names_;
};

}  // namespace pf::cli
