#include "cli/contexts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "core/hash.h"
#include "offline/catalog.h"

namespace pf::cli {
namespace {

std::shared_ptr<ContextTable> map_table(const std::string& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* at = MAP_FAILED;
  if (ftruncate(fd, sizeof(ContextTable)) == 0) {
    at = mmap(nullptr, sizeof(ContextTable), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (at == MAP_FAILED) return nullptr;
  return {static_cast<ContextTable*>(at), [](ContextTable* table) { munmap(table, sizeof(ContextTable)); }};
}

}  // namespace

Result<std::optional<ContextTrials>> ContextTrials::of(const Chain& chain) {
  for (const StageSpec& stage : chain.stages) {
    if (stage.info != &kCarismaInfo) continue;
    ContextTrials trials(carisma_options(stage.options), stage.options.contains("seed"));
    if (const Status loaded = trials.load(); !loaded) return loaded.error();
    return std::optional(std::move(trials));
  }
  return std::optional<ContextTrials>();
}

Status ContextTrials::load() {
  if (options_.state.empty()) return Done{};
  Result<CarismaState> state = load_state(options_.state, unit_of(options_.law));
  if (!state) return state.error();
  state_ = std::move(*state);
  return Done{};
}

// The state anew each time: other processes may have added to it.
Status ContextTrials::prepare(const std::string& run_directory) {
  if (const Status loaded = load(); !loaded) return loaded;
  const std::string file = fmt::format("{}/{}", run_directory, kContextFile);
  table_ = map_table(file);
  if (!table_) return Error{fmt::format("cannot write {}: {}", file, std::strerror(errno))};
  const uint64_t seed =
      seeded_ ? hash_with(options_.seed, state_.trials) : std::random_device{}() + (uint64_t{1} << 32);
  table_->seed = seed == 0 ? 1 : seed;
  for (const auto& [id, rate] : state_.next_rates(options_.law)) {
    table_->find(id, options_.law.plan(rate, ContextTable::kLongestPause));
  }
  return Done{};
}

// Of every context known, whether this trial met it or not: a size is the mean over trials.
Status ContextTrials::collect() {
  const std::shared_ptr<const ContextTable> table = std::exchange(table_, nullptr);
  if (table->opened == 0) return Done{};  // no process had the filter
  CarismaState trial;
  trial.trials = 1;
  for (const ContextSlot& slot : table->slots) {
    if (slot.id != 0 && slot.is_planned()) trial.contexts[slot.id] = {slot.samples, slot.plan().rate};
  }
  if (!options_.state.empty()) return add_trial(options_.state, unit_of(options_.law), trial);
  state_.add(trial);
  return Done{};
}

}  // namespace pf::cli
