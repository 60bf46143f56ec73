#include "runtime/past.h"

#include <algorithm>

#include "runtime/options.h"
#include "runtime/registry.h"
#include "runtime/sleep.h"

namespace pf::rt::past {
namespace {

constinit bool g_sleepers_count = true;
constinit uint64_t g_next_look = 0;  // in cycles of the processor's clock
constinit uint32_t g_looks = 0;
constinit bool g_is_looked_at = false;

bool is_asleep(const Thread& t) { return __atomic_load_n(&g_sleepers_count, __ATOMIC_RELAXED) && sleep::is_asleep(t); }

struct Look {
  uint32_t slots;
  uint32_t number;
  bool has_awake = false, in_vain = false;
  Clock least[kSlots] = {};
};

void ask(Thread& t, void* p) {
  auto& look = *static_cast<Look*>(p);
  if (is_asleep(t)) {
    t.asleep_at_look = look.number;
    return;
  }
  look.has_awake = true;
  for (uint32_t i = 0; i < look.slots; ++i)
    look.least[i] = std::min(look.least[i], __atomic_load_n(&t.shown[i], __ATOMIC_ACQUIRE));
}

void ask_again(Thread& t, void* p) {
  auto& look = *static_cast<Look*>(p);
  if (t.asleep_at_look == look.number && !is_asleep(t)) look.in_vain = true;
}

void look_at_all() {
  const uint32_t births = registry::count();
  if (registry::announced() != 0) return;
  Look look{.slots = slots_to_show(), .number = ++g_looks};
  std::ranges::fill(look.least, ~Clock{0});
  registry::for_each(&ask, &look);
  registry::for_each(&ask_again, &look);
  if (look.in_vain || !look.has_awake || registry::count() != births) return;
  for (uint32_t i = 0; i < look.slots; ++i)
    __atomic_store_n(&g_common[i], std::max(g_common[i], look.least[i]), __ATOMIC_RELAXED);
}

// Many a program synchronizes millions of times in a second. In cycles: some tens of microseconds.
constexpr uint64_t kSoon = 100'000;
constexpr uint32_t kShowAtLeastEvery = 64;
constexpr uint64_t kWorkPerLook = 50;  // all threads together look no longer than a fiftieth of one's time

void plan_next_show(Thread& t, uint64_t now) {
  const uint32_t every = t.shows_every;
  t.shows_every = now - t.shown_at < kSoon ? std::min(every * 2 + 1, kShowAtLeastEvery - 1) : every / 2;
  t.until_shown = t.shows_every;
  t.shown_at = now;
}

}  // namespace

void look(Thread& t) {
  if (g_options.forget == Forget::Nothing) {
    t.until_shown = ~uint32_t{0};
    return;
  }
  const bool is_eager = g_options.forget == Forget::Eagerly;
  const uint64_t now = __builtin_ia32_rdtsc();
  t.until_shown = 0;
  if (!is_eager) plan_next_show(t, now);
  if (!is_eager && now < __atomic_load_n(&g_next_look, __ATOMIC_RELAXED)) return;
  if (__atomic_exchange_n(&g_is_looked_at, true, __ATOMIC_ACQUIRE)) return;
  look_at_all();
  const uint64_t end = __builtin_ia32_rdtsc();
  __atomic_store_n(&g_next_look, end + kWorkPerLook * (end - now), __ATOMIC_RELAXED);
  __atomic_store_n(&g_is_looked_at, false, __ATOMIC_RELEASE);
}

namespace {

// What ends a program, or is of its own doing; not what programs live with.
bool is_last(int signal) {
  constexpr int kLast[] = {SIGINT,  SIGTERM, SIGQUIT, SIGHUP, SIGABRT, SIGXCPU, SIGXFSZ,
                           SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGTRAP, SIGSYS,  SIGPIPE};
  return std::ranges::find(kLast, signal) != std::end(kLast);
}

}  // namespace

void expect_handler(int signal) {
  if (!is_last(signal)) count_on_nobody();
}
void be_interrupted(const Thread& t) {
  if (sleep::is_in_bed(t)) count_on_nobody();
}
void count_on_nobody() { __atomic_store_n(&g_sleepers_count, false, __ATOMIC_RELAXED); }

}  // namespace pf::rt::past
