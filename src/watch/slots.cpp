#include "watch/slots.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/syscall.h"

namespace pf::watch {

alignas(64) constinit uint64_t g_samples_taken = 0;

Part part_of(uintptr_t address, uintptr_t size) {
  unsigned length = 8;
  while (length > size || (address & (length - 1)) != 0) length /= 2;
  return {address, static_cast<uint8_t>(length)};
}

uint64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t processor_nanoseconds() {
  timespec now{};
  kernel::call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

namespace slots {

alignas(64) constinit uint8_t g_watched[kWatched] = {};
constinit uint32_t g_waiting = 0;  // beside it: changed as rarely
constinit bool g_symmetric = false;

namespace {

// A slot's state is one word: its generation, and what is going on. Whoever moves it from Free or Waiting to Changing owns the slot
// and its breakpoint until it says Free or Waiting again. Fields are read without owning the slot; then the
// state is compared again (by the exchange that takes it), and a generation never comes back.
enum Phase : uint64_t { Free, Changing, Waiting };
constexpr unsigned kPhaseBits = 2;

struct alignas(64) Slot {
  uint64_t state;
  Sample sample;
  uint64_t ticks;        // of its thread, at the arming
  uint64_t number;       // of the sample in the program
  uint64_t deadline;     // nanoseconds
  uint32_t for_nothing;  // traps that led to no report
};

constexpr uint32_t kTrapsForNothing = 8;
// What the trap costs that the sampled access itself will cause.
constexpr uint64_t kTrapCost = 5'000;
// While one thread sets a breakpoint the others go without; not for ever, should it never come back.
constexpr uint64_t kLongest = 1'000'000'000;

constinit Slot g_slots[kBreakpoints] = {};
constinit unsigned g_count = 0;
constinit bool g_hardware = false;
constinit Settings g_settings;
constinit uint64_t g_resume = 0;                     // no arming before
alignas(64) constinit Statistics g_statistics = {};  // written by all

void count(uint64_t& what) { __atomic_fetch_add(&what, 1, __ATOMIC_RELAXED); }

template <class T>
T relaxed(const T& x) {
  return __atomic_load_n(&x, __ATOMIC_RELAXED);
}

template <class T>
void set(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

uint64_t state_of(const Slot& s) { return __atomic_load_n(&s.state, __ATOMIC_ACQUIRE); }
Phase phase(uint64_t state) { return static_cast<Phase>(state & ((1U << kPhaseBits) - 1)); }
uint64_t generation(uint64_t state) { return state >> kPhaseBits; }
uint64_t state_of(uint64_t generation, Phase p) { return generation << kPhaseBits | p; }
// Both what the host holds and what the trap carries.
uint64_t ticket_of(uint64_t generation, unsigned index) { return generation * kBreakpoints + index; }
Slot& slot_of(uint64_t ticket) { return g_slots[ticket % kBreakpoints]; }
unsigned index_of(const Slot& s) { return static_cast<unsigned>(&s - g_slots); }

// Of the owner of a slot, when its sample begins to wait, and when it no longer does.
void begin_to_wait(const Slot& s) {
  __atomic_fetch_add(&g_watched[watched_place(s.sample.address)], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_waiting, 1, __ATOMIC_RELAXED);
}
void end_waiting(const Slot& s) {
  __atomic_fetch_sub(&g_watched[watched_place(s.sample.address)], 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&g_waiting, 1, __ATOMIC_RELAXED);
}

bool own(Slot& s, uint64_t state) {
  if (!__atomic_compare_exchange_n(&s.state, &state, state_of(generation(state), Changing), false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return false;
  if (phase(state) == Waiting) end_waiting(s);
  return true;
}

void lose_hardware() { __atomic_store_n(&g_hardware, false, __ATOMIC_RELAXED); }

// The next arming has to wait, in proportion to what changing the breakpoints of all threads took.
void resume_after(uint64_t from, uint64_t cost) { set(g_resume, from + g_settings.pause * cost); }

void disarm(const Slot& s) {
  const uint64_t began = processor_nanoseconds();
  if (!breakpoints::disarm(index_of(s))) lose_hardware();
  const uint64_t cost = processor_nanoseconds() - began, now = nanoseconds(), resume = relaxed(g_resume);
  resume_after(resume > now ? resume : now, cost);
}

void free(Slot& s) {
  if (is_hardware()) disarm(s);
  __atomic_store_n(&s.state, state_of(generation(relaxed(s.state)), Free), __ATOMIC_RELEASE);
  kernel::call_on(SYS_futex, &s.state, FUTEX_WAKE_PRIVATE, 1);
}

bool has_moved_on(const Slot& s) {
  return __atomic_load_n(&relaxed(s.sample.thread)->ticks, __ATOMIC_ACQUIRE) != relaxed(s.ticks);
}

// Why a waiting sample may give its slot to another; null if it may not.
uint64_t* why_over(const Slot& s, uint64_t now) {
  if (!g_symmetric && has_moved_on(s)) return &g_statistics.stale;
  return now >= relaxed(s.deadline) ? &g_statistics.expired : nullptr;
}

Slot* find_slot(uint64_t now) {
  for (unsigned i = 0; i < g_count; ++i) {
    Slot& s = g_slots[i];
    if (const uint64_t state = state_of(s); phase(state) == Free && own(s, state)) return &s;
  }
  for (unsigned i = 0; i < g_count; ++i) {
    Slot& s = g_slots[i];
    const uint64_t state = state_of(s);
    uint64_t* const why = phase(state) == Waiting ? why_over(s, now) : nullptr;
    if (why == nullptr || !own(s, state)) continue;
    count(*why);
    return &s;
  }
  return nullptr;
}

void fill(Slot& s, const Sample& sample, uint64_t now) {
  set(s.sample.thread, sample.thread);
  set(s.sample.address, sample.address);
  set(s.sample.length, sample.length);
  set(s.sample.write, sample.write);
  set(s.sample.access, sample.access);
  set(s.sample.detail, sample.detail);
  set(s.ticks, sample.thread->ticks);
  set(s.number, __atomic_add_fetch(&g_samples_taken, 1, __ATOMIC_ACQ_REL));
  set(s.deadline, now + g_settings.limit);
  set(s.for_nothing, 0U);
}

// A slot, and with breakpoints the right to be the one who sets them now.
Slot* slot_for(uint64_t now) {
  uint64_t resume = relaxed(g_resume);
  if (now < resume) return nullptr;
  if (!is_hardware()) return find_slot(now);
  if (!__atomic_compare_exchange_n(&g_resume, &resume, now + kLongest, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return nullptr;
  Slot* s = find_slot(now);
  if (s == nullptr) set(g_resume, now);
  return s;
}

void set_breakpoint(const Slot& s, const Sample& sample, uint64_t ticket) {
  const On on = sample.write ? On::Access : On::Write;
  const uint64_t began = processor_nanoseconds();
  if (!breakpoints::arm(index_of(s), sample.address, sample.length, on, ticket)) lose_hardware();
  const uint64_t cost = processor_nanoseconds() - began;
  resume_after(nanoseconds(), cost + kTrapCost);
}

bool is_race(const Slot& s, const Clock& clock) {
  return !has_moved_on(s) || (g_symmetric && relaxed(clock.seen) < relaxed(s.number));
}

void give_up(Slot& s, uint64_t state, uint64_t& statistic) {
  if (!own(s, state)) return;
  count(statistic);
  free(s);
}
// A trap that is no race: the breakpoint is worth a few of them.
void bear(Slot& s, uint64_t state, uint64_t& statistic) {
  if (__atomic_add_fetch(&s.for_nothing, 1, __ATOMIC_RELAXED) >= kTrapsForNothing) give_up(s, state, statistic);
}

// Of whoever has the slot: which one that is, the state tells afterwards.
Sample sample_in(const Slot& s) {
  return {relaxed(s.sample.thread), relaxed(s.sample.address), relaxed(s.sample.length),
          relaxed(s.sample.write),  relaxed(s.sample.access),  relaxed(s.sample.detail)};
}

bool take_from(Slot& s, uint64_t state, Sample& with) {
  with = sample_in(s);
  if (!own(s, state)) return false;
  count(g_statistics.fired);
  free(s);
  return true;
}

bool overlaps(const Slot& s, uintptr_t address, uintptr_t size) {
  const uintptr_t begin = relaxed(s.sample.address);
  return begin < address + size && address < begin + relaxed(s.sample.length);
}

// Of several breakpoints that one access hits, the kernel tells of one. So, whoever watches all bytes of that one as well was hit, too;
// unless it waits for a write, which is sure only if that one does. (Its slot may be another's by now.)
bool take_behind(const Sample& told, const Clock& clock, Sample& with) {
  for (unsigned i = 0; i < g_count; ++i) {
    Slot& s = g_slots[i];
    const uint64_t state = state_of(s);
    const uintptr_t address = relaxed(s.sample.address);
    if (phase(state) != Waiting || relaxed(s.sample.thread) == &clock) continue;
    if (address > told.address || address + relaxed(s.sample.length) < told.address + told.length) continue;
    if (!relaxed(s.sample.write) && told.write) continue;
    if (is_race(s, clock) && take_from(s, state, with)) return true;
  }
  return false;
}

Started start_with(const breakpoints::Opened& opened) {
  for (Slot& s : g_slots) s.state = state_of(generation(s.state) + 1, Free);
  for (uint8_t& watched : g_watched) watched = 0;
  g_waiting = 0;
  g_resume = 0;
  g_hardware = opened.count != 0;
  g_count = g_hardware ? opened.count : kBreakpoints;
  return {g_count, g_hardware, opened.why};
}

}  // namespace

Started start(const Settings& settings) {
  g_settings = settings;
  g_symmetric = settings.symmetric;
  g_statistics = {};
  return start_with(settings.hardware ? breakpoints::open() : breakpoints::Opened{0, 0});
}

Started start_in_child() {
  return start_with(g_settings.hardware ? breakpoints::open_in_child() : breakpoints::Opened{0, 0});
}

void stop() {
  for (unsigned i = 0; i < g_count; ++i) {
    Slot& s = g_slots[i];
    const uint64_t state = state_of(s);
    if (phase(state) == Waiting) give_up(s, state, g_statistics.expired);
  }
}

void give_back() {
  lose_hardware();
  breakpoints::close();
}

bool is_hardware() { return relaxed(g_hardware); }

uint64_t arm(const Sample& sample) {
  const uint64_t now = nanoseconds();
  Slot* s = slot_for(now);
  if (s == nullptr) return count(g_statistics.busy), 0;
  const uint64_t fresh = generation(s->state) + 1;
  const uint64_t ticket = ticket_of(fresh, index_of(*s));
  __atomic_store_n(&s->state, state_of(fresh, Changing), __ATOMIC_RELEASE);
  fill(*s, sample, now);
  count(g_statistics.armed);
  begin_to_wait(*s);
  __atomic_store_n(&s->state, state_of(fresh, Waiting), __ATOMIC_RELEASE);
  // Last, since threads trap as soon as they have it. Should the sample be taken before all have it, the breakpoint stays where it is
  // until the next trap, which finds nobody waiting.
  if (is_hardware()) set_breakpoint(*s, sample, ticket);
  return ticket;
}

void left_out(uint64_t samples) { __atomic_fetch_add(&g_statistics.busy, samples, __ATOMIC_RELAXED); }

bool finish(uint64_t ticket) {
  Slot& s = slot_of(ticket);
  if (!own(s, state_of(ticket / kBreakpoints, Waiting))) return false;
  count(g_statistics.expired);
  free(s);
  return true;
}

void wait(uint64_t ticket, uint64_t nanoseconds) {
  const timespec limit{static_cast<time_t>(nanoseconds / 1'000'000'000),
                       static_cast<long>(nanoseconds % 1'000'000'000)};
  if (ticket == 0) return static_cast<void>(kernel::call_on(SYS_nanosleep, &limit));
  const uint64_t waiting = state_of(ticket / kBreakpoints, Waiting);
  // The low half of the state changes with the phase.
  kernel::call_on(SYS_futex, &slot_of(ticket).state, FUTEX_WAIT_PRIVATE, static_cast<uint32_t>(waiting),
                  reinterpret_cast<long>(&limit));
}

bool take(const Clock& clock, uintptr_t address, uintptr_t size, bool write, uint64_t latest, Sample& with) {
  for (unsigned i = 0; i < g_count; ++i) {
    Slot& s = g_slots[i];
    const uint64_t state = state_of(s);
    if (phase(state) != Waiting || !overlaps(s, address, size) || relaxed(s.sample.thread) == &clock) continue;
    if ((!write && !relaxed(s.sample.write)) || relaxed(s.number) > latest) continue;
    if (is_race(s, clock) && take_from(s, state, with)) return true;
  }
  return false;
}

bool hit(const Clock& clock, const Trap& trap, Sample& with) {
  Slot& s = slot_of(trap.tag);
  const uint64_t state = state_of(s);
  const Sample told = sample_in(s);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  const bool is_one_sample = relaxed(s.state) == state;
  if (state != state_of(trap.tag / kBreakpoints, Waiting) || !is_one_sample || told.address != trap.address) {
    count(g_statistics.late);
    if (phase(state) == Free && own(s, state))
      free(s);  // it was taken, or the thread born, while the breakpoint changed
    return false;
  }
  if (told.thread == &clock) {
    bear(s, state, g_statistics.own);
    return take_behind(told, clock, with);
  }
  if (!is_race(s, clock)) {  // with the symmetric rule, a third thread may still race
    g_symmetric ? bear(s, state, g_statistics.stale) : give_up(s, state, g_statistics.stale);
    return take_behind(told, clock, with);
  }
  return take_from(s, state, with);
}

void miss(const Trap& trap) {
  Slot& s = slot_of(trap.tag);
  const uint64_t state = state_of(s);
  if (state == state_of(trap.tag / kBreakpoints, Waiting)) bear(s, state, g_statistics.own);
}

bool any_in(uintptr_t address, uintptr_t size) {
  if (!any()) return false;
  for (unsigned i = 0; i < g_count; ++i) {
    const Slot& s = g_slots[i];
    if (phase(state_of(s)) == Waiting && overlaps(s, address, size)) return true;
  }
  return false;
}

void forget(uintptr_t address, uintptr_t size) {
  for (unsigned i = 0; i < g_count; ++i) {
    Slot& s = g_slots[i];
    const uint64_t state = state_of(s);
    if (phase(state) == Waiting && overlaps(s, address, size)) give_up(s, state, g_statistics.stale);
  }
}

Statistics statistics() {
  const Statistics& s = g_statistics;
  return {relaxed(s.armed), relaxed(s.fired), relaxed(s.expired), relaxed(s.stale),
          relaxed(s.own),   relaxed(s.busy),  relaxed(s.late)};
}

}  // namespace slots
}  // namespace pf::watch
