// LiteRace's law of bursts, for traces (literace.h) and inside programs (runtime/literace.h): a function's first executions are all
// sampled; then it pauses so long that bursts and pauses make 10%, after the next burst 1%, then and from there on 0.1%.
#pragma once
#include <cstdint>

#include "core/random.h"

namespace pf {

enum BurstRate : uint8_t { At100, At10, At1, At01, Paused, kBurstRates };  // Paused: not sampled

struct BurstLaw {
  uint64_t burst = 10;  // executions in a row, at least one
  bool random = true;   // pauses are drawn from half to one and a half of their length

  // So long that a burst and a pause have that rate, on average.
  uint64_t pause_before(BurstRate rate, Random& draws) const {
    uint64_t length = burst;
    for (unsigned i = At100; i < rate; ++i) length *= 10;
    length -= burst;
    if (!random) return length;
    return length - length / 2 + draws.below(length / 2 * 2 + 1);
  }
};

// Of one function in one thread.
struct BurstCounter {
  uint64_t pause = 0;    // executions still to be skipped
  uint64_t sampled = 0;  // in this burst
  BurstRate rate = At100;

  // One more execution: the rate that it is sampled at, or that it is not.
  BurstRate execute(const BurstLaw& law, Random& draws) {
    if (pause != 0) {
      --pause;
      return Paused;
    }
    const BurstRate now = rate;
    if (++sampled < law.burst) return now;
    rate = now == At01 ? At01 : static_cast<BurstRate>(now + 1);
    pause = law.pause_before(rate, draws);
    sampled = 0;
    return now;
  }
};

}  // namespace pf
