// LiteRace: samples the executions of each function by each thread in bursts, the seldomer the more there were.
//
// A function's first `burst` executions by a thread are sampled, all of them; then it pauses so long that bursts and pauses
// make 10%, after the next burst 1%, after that and from then on 0.1%. An execution that is sampled passes all its own reads and
// writes, another one none; callees decide for themselves. Synchronization, atomics, allocations and frees always pass.
// Executions are the Call and Return events of the trace. Outside of any, a thread has one function without a name, and
// each access is an execution of it.
// Guarantee: no false alarm that the detector behind it would not raise. None on finding: a race between two hot functions
// takes both of its accesses at 0.1%.
// Source: PACER (seed 003) §2.3 and §5.3, whose randomness it has: a pause is drawn from half to one and a half of its length.
// Cost: a read or write is one look at its thread's frame; a call is a look-up.
#pragma once
#include <array>
#include <unordered_map>
#include <vector>

#include "core/engine_info.h"
#include "core/random.h"
#include "filter/burst.h"
#include "filter/filter.h"

namespace pf {

inline constexpr OptionInfo kLiteRaceOptions[] = {
    {"burst", "N", "10", "executions of a function that are sampled in a row"},
    {"seed", "N", "1", "for drawing the pauses between bursts; 0: each as long as its rate says"},
};
inline constexpr std::string_view kLiteRaceRules[] = {"sampled at 100%", "sampled at 10%", "sampled at 1%",
                                                      "sampled at 0.1%", "dropped: not sampled"};
inline constexpr EngineInfo kLiteRaceInfo = {
    .name = "literace",
    .kind = StageKind::Filter,
    .summary = "samples each function of each thread in bursts, from 100% when it is new down to 0.1% when it is hot",
    .guarantee = "no false alarm; cold code is seen whole, a race between hot functions one time in a million",
    .source = "PACER §2.3, §5.3",
    .options = kLiteRaceOptions,
    .rules = kLiteRaceRules,
};

struct LiteRaceOptions {
  uint64_t burst = 10;
  uint64_t seed = 1;  // 0: nothing is random
};

class LiteRaceFilter final : public FilterStage {
 public:
  explicit LiteRaceFilter(LiteRaceOptions options);

  std::span<const Event> pass(std::span<const Event> batch) override;
  FilterStats stats() const override;

 private:
  struct Frame {
    uint64_t function;
    BurstRate rate;
  };
  struct Thread {
    std::unordered_map<uint64_t, BurstCounter> functions;
    std::vector<Frame> stack;
    BurstCounter outside;  // of any call
  };

  Thread& thread(ThreadId id);
  BurstRate judge(Thread& t);
  void follow(const Event& e);

  BurstLaw law_;
  Random random_;
  std::vector<Event> kept_;
  std::vector<Thread> threads_;
  uint64_t events_ = 0;
  std::array<uint64_t, kBurstRates> rules_{};  // of accesses
};

}  // namespace pf
