#include "runtime/sampling.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "core/control.h"
#include "runtime/options.h"
#include "runtime/quiet.h"
#include "runtime/rest.h"
#include "runtime/say.h"

namespace pf::rt::sampling {

constinit uint32_t g_period = 0, g_batch = 1;

namespace {

constinit Periods g_periods{0, 1, 0};
constinit SpinLock g_lock;
constinit bool g_used = false, g_forced = false;
constinit Control g_own_control{};  // when there is no file
constinit Control* g_control = &g_own_control;

void set(bool on) {
  if (is_on(g_period) == on) return;
  if (on) rest::end();
  quiet::set_period(on);
  __atomic_store_n(&g_period, g_period + 1, __ATOMIC_RELEASE);
}

// So little at a time that a period is as long as it should be; more while the next one is far away. Not while a rest is sought, which
// is done when work is told.
void set_batch() {
  constexpr uint64_t kParts = 32, kMost = 4096;
  uint64_t units = g_periods.length();
  if (!is_on(g_period)) {
    if (rest::is_sought()) {
      if (units > Periods::kFirst) units = Periods::kFirst;
    } else if (const uint64_t ahead = g_periods.work_ahead() / 2; !g_forced && units < ahead) {
      units = ahead;
    }
  }
  const uint64_t batch = 1 + (units / kParts < kMost ? units / kParts : kMost);
  if (batch != g_batch) __atomic_store_n(&g_batch, static_cast<uint32_t>(batch), __ATOMIC_RELAXED);
}

// Shared with whoever wants to change the rate while the program runs. Later processes of the run find it as it is.
Control* map_control(const char* run_directory) {
  Text path;
  path.put(run_directory).put("/").put(kControlFile);
  const long fd = sys::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (sys::failed(fd)) return nullptr;
  const bool sized = !sys::failed(sys::call(SYS_ftruncate, fd, sizeof(Control)));
  const long at = sys::call(SYS_mmap, 0, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  sys::close(static_cast<int>(fd));
  return sized && !sys::failed(at) ? reinterpret_cast<Control*>(at) : nullptr;
}

}  // namespace

uint64_t seed() { return g_options.has_seed ? g_options.seed + (g_options.trial << 32) : fresh_seed(); }

void begin(const char* run_directory) {
  g_used = true;
  if (Control* shared = run_directory != nullptr ? map_control(run_directory) : nullptr; shared != nullptr)
    g_control = shared;
  uint64_t nobody = Control::kUnset;
  __atomic_compare_exchange_n(&g_control->rate, &nobody, Control::of(g_options.rate), false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  const uint64_t rate = Control::rate_of(__atomic_load_n(&g_control->rate, __ATOMIC_RELAXED));
  g_periods = Periods(rate, g_options.period, seed());
  rest::begin_at_start();
  set(g_periods.sampling());
  set_batch();
}

namespace {

// Whether that ends in a rest.
bool pass_time(Thread& t) {
  const Guard guard(g_lock);
  g_periods.set_rate(Control::rate_of(__atomic_load_n(&g_control->rate, __ATOMIC_RELAXED)));
  if (g_periods.work(t.work) && !g_forced) set(g_periods.sampling());
  t.work = 0;
  const bool is_rest = !is_on(g_period) && rest::seek(t);
  set_batch();
  return is_rest;
}

}  // namespace

void tell_work(Thread& t) {
  const Scope scope(t);
  if (pass_time(t)) rest::forget_samples(t);
}

void tell_late_work(Thread& t) {
  const Guard guard(g_lock);
  g_periods.late_work(t.work, is_on(t.period));
  t.work = 0;
}

void force(bool on) {
  const Guard guard(g_lock);
  g_forced = true;
  set(on);
}

void end_rest() {
  const Guard guard(g_lock);
  rest::end();
}

bool is_used() { return g_used; }
Counts counts() { return {g_periods.rate(), g_periods.done(), g_periods.sampled()}; }

}  // namespace pf::rt::sampling
