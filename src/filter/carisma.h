// CARISMA: samples memory locations by the context that made them, so that over several trials every context gets its share.
//
// The context of a location is who allocated it (the site that forked the thread), what it is (offset and size of a small block, the size
// class of a large one, or the variable itself) and where it was allocated. A location, eight bytes, is decided at its first
// access: if it is not sampled, no access to it passes in this trial. The rates of contexts come from the sums of earlier trials
// (budget.h, carisma_state.h). Strategies: `cls` counts locations, `fls` counts writes, `aas` also samples the accesses of a location in
// bursts where its context's rate is below the least one. Synchronization, atomics, allocations and frees always pass.
// Guarantee: no false alarm that the detector behind it would not raise; the sizes of contexts are estimated without bias,
// and about the target rate is sampled in all.
// Source: CARISMA (seed 002). Other than there, a location's place in the cycle of bursts is drawn from the whole cycle, not from
// its pause: drawn from the pause, a location that is written once would be seen too seldom, and the estimate be wrong.
// Cost: an access is a look-up of its location.
#pragma once
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/engine_info.h"
#include "core/random.h"
#include "filter/carisma_law.h"
#include "filter/carisma_state.h"
#include "filter/filter.h"

namespace pf {

inline constexpr OptionInfo kCarismaOptions[] = {
    {"strategy", "cls|fls|aas", "aas", "what is counted and sampled: locations, writes to locations, accesses"},
    {"rate", "R", "1%", "share of the accesses that is sampled"},
    {"min", "R", "0.001%", "the least rate of a context's locations"},
    {"state", "FILE", "none", "what earlier trials have seen; this one is added at the end"},
    {"depth", "N", "1", "calls that tell allocation sites apart"},
    {"seed", "N", "1", "for all draws, together with the number of earlier trials"},
};
inline constexpr std::string_view kCarismaRules[] = {"sampled", "dropped: location", "dropped: access"};
inline constexpr EngineInfo kCarismaInfo = {
    .name = "carisma",
    .kind = StageKind::Filter,
    .summary = "samples memory locations so that over several trials every allocation context gets its share",
    .guarantee = "no false alarm; about the asked rate in all, spread evenly over contexts as trials go on",
    .source = "CARISMA §3",
    .options = kCarismaOptions,
    .rules = kCarismaRules,
};

struct CarismaOptions {
  CarismaLaw law = {};
  std::string state = {};  // empty: none is kept
  uint64_t depth = 1;
  uint64_t seed = 1;
};

class CarismaFilter final : public FilterStage {
 public:
  explicit CarismaFilter(CarismaOptions options) : options_(std::move(options)), random_(options_.seed) {}

  Status start(const StableNames& names) override;
  std::span<const Event> pass(std::span<const Event> batch) override;
  Status finish() override;
  FilterStats stats() const override;

  // What this trial has seen so far, to be added to a state.
  CarismaState trial() const;
  // Instead of a file.
  void set_state(const CarismaState& state);

 private:
  enum Rule : uint8_t { Sampled, LocationDropped, AccessDropped, kRules };

  struct Context {
    uint64_t id;
    ContextPlan plan;
    uint64_t samples = 0;
  };
  struct Location {
    uint32_t context = 0;
    bool sampled = false;
    uint64_t life = 0;   // of its memory, when it was decided; from 1
    uint64_t phase = 0;  // in the cycle of pause and burst
  };
  struct Block {
    uint64_t first, last;
    uint64_t life;
    uint64_t origin;  // who allocated it, and where
  };
  struct Frame {
    uint64_t function, site;
  };
  struct Thread {
    uint64_t type = 0;  // of the first thread
    std::vector<Frame> stack;
  };

  Thread& thread(ThreadId id);
  Rule judge(const Event& e);
  Rule judge_location(const Event& e, uint64_t address);
  void decide(Location& x, const Event& e, uint64_t address, const Block* block);
  uint32_t context_of(const Event& e, uint64_t address, const Block* block);
  uint32_t find_context(uint64_t id);
  const Block* block_at(uint64_t location) const;
  void follow(const Event& e);
  void allocate(const Event& e);
  SampleUnit unit() const { return unit_of(options_.law); }

  CarismaOptions options_;
  const StableNames* names_ = &kPlainNames;
  Random random_;
  std::vector<Event> kept_;
  std::vector<Thread> threads_;
  std::vector<Context> contexts_;
  std::unordered_map<uint64_t, uint32_t> context_index_;
  std::unordered_map<uint64_t, Location> locations_;  // by address
  std::map<uint64_t, Block> blocks_;
  uint64_t lives_ = 1;  // 1: never allocated
  uint64_t events_ = 0;
  std::array<uint64_t, kRules> rules_{};
};

}  // namespace pf
