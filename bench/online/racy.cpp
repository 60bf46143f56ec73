// Twenty races, evenly spaced among 40,000 critical sections of two threads: how often is each found? The threads take turns by an
// order that no detector can see, so every run has all twenty. Of bench/sampling.
#include <atomic>
#include <mutex>
#include <thread>

#include "../../tests/programs/order.h"

namespace {

constexpr int kRaces = 20, kSections = 2000;
std::mutex mutex;
long counter;
volatile int racy[kRaces * 16];

template <int kRace>
[[gnu::noinline]] void touch() {
  racy[kRace * 16] = kRace;
}
template <int... kRace>
void touch_at(int race, std::integer_sequence<int, kRace...>) {
  ((race == kRace ? touch<kRace>() : void()), ...);
}

void work(int thread) {
  for (int race = 0; race < kRaces; ++race) {
    order_wait(2 * race + thread);
    touch_at(race, std::make_integer_sequence<int, kRaces>{});
    order_done(2 * race + thread + 1);
    order_wait(2 * race + 2);
    for (int i = 0; i < kSections / 2; ++i) {
      const std::lock_guard guard(mutex);
      ++counter;
    }
  }
}

}  // namespace

int main() {
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
}
