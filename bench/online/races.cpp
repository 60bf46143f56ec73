// Two threads at work on data of their own, with 32 races in between: shared words that each thread updates without a lock, the first at every
// step, the last one step in 2^15. They meet at a lock every STEPS_BETWEEN_LOCKS. Of bench/watch: how many of the races are found, at what cost?
#include "micro/micro.h"

#include <mutex>

namespace {

constexpr int kRaces = 32;
constexpr std::uint64_t kOwn = 4096;
#ifndef STEPS_BETWEEN_LOCKS
#define STEPS_BETWEEN_LOCKS 4096
#endif

std::mutex mutex;
std::uint64_t done;
volatile std::uint64_t shared[kRaces * 8];

template <int kRace>
[[gnu::noinline]] void touch(std::uint64_t value) {
  shared[kRace * 8] = shared[kRace * 8] + value;
}

// Race k comes at steps whose lower k/2 bits are those of k.
template <int... kRace>
void touch_some(std::uint64_t step, std::integer_sequence<int, kRace...>) {
  constexpr auto is_due = [](std::uint64_t at, std::uint64_t k) { return (at ^ k) % (std::uint64_t{1} << k / 2) == 0; };
  ((is_due(step, kRace) ? touch<kRace>(step) : void()), ...);
}

void work(std::uint64_t steps, std::uint64_t seed) {
  std::vector<std::uint64_t> own(kOwn, seed);
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::uint64_t i = 0; i < 16; ++i) {
      std::uint64_t& word = own[(step * 16 + i) % kOwn];
      word = word * 6364136223846793005U + step;
    }
    touch_some(step, std::make_integer_sequence<int, kRaces>{});
    if (step % STEPS_BETWEEN_LOCKS == 0) {
      const std::lock_guard guard(mutex);
      ++done;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto [threads, steps] = arguments(argc, argv);
  parallel(threads, [steps = steps, threads = threads](unsigned i) { work(steps / threads, i); });
  return finish(done);
}
