// CARISMA inside programs, from trial to trial: what earlier trials say goes into the run directory before the program starts, and what
// this one has seen is added when it has ended (filter/context_table.h).
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "detect/chain.h"
#include "filter/carisma.h"
#include "filter/context_table.h"

namespace pf::cli {

class ContextTrials {
 public:
  // Nothing where the chain has no such filter. A state that cannot be used is an error before the program starts.
  static Result<std::optional<ContextTrials>> of(const Chain& chain);

  Status prepare(const std::string& run_directory);
  // What the program does to its run directory meanwhile does not matter.
  Status collect();

 private:
  explicit ContextTrials(CarismaOptions options, bool seeded) : options_(std::move(options)), seeded_(seeded) {}
  Status load();

  CarismaOptions options_;
  bool seeded_;                          // else every trial draws its own
  CarismaState state_;                   // of the trials so far: the file's, or without one our own
  std::shared_ptr<ContextTable> table_;  // of the trial that is under way
};

}  // namespace pf::cli
