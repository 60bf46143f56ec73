// What CARISMA carries from one trial to the next, in a file that many processes may add to at once.
//
// A process reads the file, runs, and adds what it saw: under an advisory lock it reads the file again, adds its sums, writes all to a
// temporary file beside it and renames that over the file. So a reader needs no lock, a process that is killed leaves the old or
// the new file, never a part of one, and what add_trial() returned from is on the disk. The format is in docs/engines/carisma.md.
#pragma once
#include <map>
#include <string>

#include "core/result.h"
#include "filter/budget.h"
#include "filter/carisma_law.h"

namespace pf {

// What a context's size counts. Sums of different units do not add up, so the file has one.
enum class SampleUnit : uint32_t { Locations = 1, Writes = 2 };
inline SampleUnit unit_of(const CarismaLaw& law) {
  return law.counts_writes() ? SampleUnit::Writes : SampleUnit::Locations;
}

struct CarismaState {
  uint64_t trials = 0;
  std::map<uint64_t, ContextSums> contexts;

  void add(const CarismaState& other);
  // At which each context is to be sampled in the next trial, in parts of 2^32. Those that are not here have the law's own.
  std::map<uint64_t, uint64_t> next_rates(const CarismaLaw& law) const;
};

// As the file has it. `path` is for the error.
Result<CarismaState> decode_state(std::string_view bytes, SampleUnit unit, const std::string& path);
std::string encode_state(const CarismaState& state, SampleUnit unit);
std::string with_checksum(std::string bytes);  // of a state that was changed

// None yet: an empty state, and an empty file.
Result<CarismaState> load_state(const std::string& path, SampleUnit unit);
Status add_trial(const std::string& path, SampleUnit unit, const CarismaState& trial);

}  // namespace pf
