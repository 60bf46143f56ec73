// Clock races (CRSampler) and collisions (DataCollider) on instrumented programs, and the functions of host.h for both.
//
// clockrace: a sampled access arms a slot and goes on; nothing is delayed.
// collision: it arms a slot and waits, as long as the budget of delays allows; and if the value has changed meanwhile, somebody has
// written it, whether or not there was a slot to see who. Guarantee of both: every report is a race by happens-before (watch/slots.h;
// of the changed value: the waiting thread neither acquires nor releases).
#include "runtime/watch_host.h"

#include <errno.h>

#include "core/random.h"
#include "runtime/announced.h"
#include "runtime/chunks.h"
#include "runtime/found.h"
#include "runtime/instrumented.h"
#include "runtime/near.h"
#include "runtime/options.h"
#include "runtime/planted.h"
#include "runtime/registry.h"
#include "runtime/runtime.h"
#include "runtime/sampling.h"
#include "runtime/steer.h"

namespace pf::rt {

const uintptr_t kCellBytes = 0;
const char kDetectorName[] = PF_WATCHER;
const bool kIsForSampling = PF_SAMPLER;

namespace {

namespace slots = watch::slots;
using HostThread = WatchHost::HostThread;

constexpr bool kSampler = PF_SAMPLER;  // of programs that are not instrumented: their instructions are planted.h's
constexpr bool kDelays = std::string_view(PF_WATCHER) == "collision";
constexpr uint64_t kAlways = Periods::kAlways;

HostThread& of(Thread& t) { return WatchHost::of(t); }

uint32_t packed(Op op, uintptr_t size) {
  return (static_cast<uint32_t>(op) + 1) << 24 | static_cast<uint32_t>(size < 0xFFFFFF ? size : 0xFFFFFF);
}

// --- which instructions ---

uint64_t share_of(uint64_t part, uint64_t rate) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(part) * rate / kAlways);
}

uint64_t asked_rate() { return g_options.has_rate ? g_options.rate : known_rate("1%"); }

void draw_places() {
  if (steer::is_on()) {
    steer::for_each_byte([](uintptr_t at) { WatchHost::g_places[WatchHost::place_of(at + 1)] = WatchHost::kSampled; });
    return;
  }
  Random random(sampling::seed());
  for (uint8_t& place : WatchHost::g_places) place = random.chance(asked_rate()) ? WatchHost::kSampled : 0;
}

// Without breakpoints every access has to be compared; of a program that is steered, those where it is steered to.
void compare_all() {
  if (steer::is_on()) return;
  if ((__atomic_load_n(&WatchHost::g_places[WatchHost::kPlaces - 1], __ATOMIC_RELAXED) & WatchHost::kCompared) != 0)
    return;
  for (uint8_t& place : WatchHost::g_places) __atomic_fetch_or(&place, WatchHost::kCompared, __ATOMIC_RELAXED);
}

uint64_t sampled_places() {
  uint64_t count = 0;
  for (const uint8_t place : WatchHost::g_places) count += place & WatchHost::kSampled;
  return count;
}

// --- the budget of delays ---

constinit uint64_t g_began = 0, g_delayed = 0, g_delays = 0, g_spared = 0, g_changed = 0;

// How long this thread may wait now; 0 if it is not worth it.
uint64_t affordable() {
  const uint64_t elapsed = watch::nanoseconds() - g_began;
  const uint64_t spent = __atomic_load_n(&g_delayed, __ATOMIC_RELAXED);
  if (spent >= elapsed) return 0;
  const uint64_t budget = share_of(elapsed - spent, g_options.overhead);  // of the time that the program had without
  const uint64_t left = budget > spent ? budget - spent : 0;
  if (left < g_options.delay / 8) return 0;
  return left < g_options.delay ? left : g_options.delay;
}

// --- the two engines ---

// What a sample carries beside the number of its thread, in a program that is not instrumented.
enum Detail : uint64_t { kIsPlain = uint64_t{1} << 32, kIsDelayed = uint64_t{1} << 33 };

// There, synchronization that is inlined is not seen: only that the other access came while this one was held back proves anything,
// and only of instructions that are known not to be atomic.
Verdict verdict_on(const watch::Sample& with, bool other_is_plain) {
  if (!kSampler) return Verdict::Real;
  return (with.detail & kIsDelayed) != 0 && (with.detail & kIsPlain) != 0 && other_is_plain ? Verdict::Confirmed
                                                                                            : Verdict::Suspect;
}

// Where an access is in the program, as describe() was told.
uintptr_t place_of(depot::Id access) { return depot::at(depot::at(access).below).key; }

void report(Thread& t, const watch::Sample& with, depot::Id now, uintptr_t address, bool is_plain = true) {
  const Verdict verdict = verdict_on(with, is_plain);
  const auto prior = static_cast<depot::Id>(with.access);
  if (verdict == Verdict::Confirmed) planted::confirmed(place_of(prior), place_of(now));
  if (verdict == Verdict::Suspect && (with.detail & kIsDelayed) == 0) planted::confirm(place_of(prior), place_of(now));
  found(t, {prior, ThreadId{static_cast<uint32_t>(with.detail)}, now, address, verdict, false});
}

uint64_t value_of(watch::Part part) {
  switch (part.length) {
    case 1: return *reinterpret_cast<const volatile uint8_t*>(part.address);
    case 2: return *reinterpret_cast<const volatile uint16_t*>(part.address);
    case 4: return *reinterpret_cast<const volatile uint32_t*>(part.address);
    default: return *reinterpret_cast<const volatile uint64_t*>(part.address);
  }
}

// Of a long access another part each time.
watch::Part part_to_watch(uintptr_t address, uintptr_t size) {
  const uintptr_t offset = size <= 8 ? 0 : __atomic_load_n(&watch::g_samples_taken, __ATOMIC_RELAXED) * 8 % size;
  return watch::part_of(address + offset, size - offset);
}

// Not busy meanwhile: neither signals nor forks need wait for us.
void sleep(HostThread& t, uint64_t ticket, uint64_t time) {
  __atomic_store_n(&t.busy, 0, __ATOMIC_SEQ_CST);
  slots::wait(ticket, time);
  __atomic_store_n(&t.busy, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&g_gate_closed, __ATOMIC_SEQ_CST)) wait_at_gate(t);
}

// Whether the value changed during f(). Signals wait for that: what a handler on this very thread writes is no race.
template <class F>
bool changes_during(watch::Part part, F f) {
  const sys::NoHandlers alone;
  const uint64_t before = value_of(part);
  f();
  return value_of(part) != before;
}

// What an interceptor announces may stand for more than it is (the memory of a lock, say): there the value tells nothing.
enum class By : bool { Compiler, Interceptor };

// How long a thread at this place may wait.
uint64_t patience(uintptr_t pc) {
  if (!steer::is_on()) return affordable();
  return steer::is_to_wait(pc) ? g_options.delay : 0;
}

// Whether it waited.
bool collide(HostThread& t, const watch::Sample& sample, uintptr_t pc, By by) {
  const uint64_t time = t.busy == 1 ? patience(pc) : 0;  // nobody above us holds anything
  if (time == 0) {
    __atomic_fetch_add(&g_spared, 1, __ATOMIC_RELAXED);
    return false;
  }
  const watch::Part part{sample.address, sample.length};
  const bool asks_value = by == By::Compiler && !kSampler &&  // there, an atomic may have written
                          !steer::is_on();                    // and here both have to be seen
  __atomic_fetch_add(&g_delayed, time, __ATOMIC_RELAXED);     // beforehand: others may want to wait, too
  __atomic_fetch_add(&g_delays, 1, __ATOMIC_RELAXED);
  const uint64_t ticket = slots::arm(sample);
  if (ticket == 0 && !asks_value) {  // nobody could be seen
    __atomic_fetch_sub(&g_delayed, time, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&g_delays, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&g_spared, 1, __ATOMIC_RELAXED);
    return false;
  }
  if (kSampler) planted::tried(place_of(static_cast<depot::Id>(sample.access)));
  const uint64_t start = watch::nanoseconds();
  const auto wait = [&] { sleep(t, ticket, time); };
  bool has_changed = false;
  if (asks_value) {
    has_changed = changes_during(part, wait);
  } else {
    wait();
  }
  const bool untaken = ticket == 0 || slots::finish(ticket);
  __atomic_fetch_add(&g_delayed, watch::nanoseconds() - start - time, __ATOMIC_RELAXED);
  if (!untaken || !has_changed) return true;
  __atomic_fetch_add(&g_changed, 1, __ATOMIC_RELAXED);
  found(t, {depot::push(0, uint64_t{packed(Op::Write, part.length)} << 32), ThreadId{kNobody},
            static_cast<depot::Id>(sample.access), part.address, Verdict::Real, false});
  return true;
}

// Whether it was one.
bool take_sample(HostThread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc, By by, uint64_t detail = 0) {
  const Scope scope(t);
  ++t.accesses;
  const watch::Part part = part_to_watch(address, size);
  const watch::Sample sample{
      &t.clock, part.address, part.length, writes(op), describe(t, pc, packed(op, size)), detail | t.info->id};
  const bool is_delayed = kDelays || (detail & kIsDelayed) != 0;
  const bool taken = is_delayed ? collide(t, sample, pc, by) : slots::arm(sample) != 0;
  if (g_options.breakpoints && !slots::is_hardware() && !kSampler)
    compare_all();  // the program has closed our descriptors
  return taken;
}

// --- whose turn it is ---

constinit watch::Rest g_rests[WatchHost::kPlaces] = {};
constinit uint64_t g_longest_rest = 0;  // 0: there are none, every sample is tried
// When the last sample was, of any place; and the time after which nobody else seems to want one, so that a rest is no use.
constinit uint64_t g_last_sample = 0, g_idle = 0;

// With all of the processor's time for it, or where the program is steered to, nothing rests.
void plan_rests() {
  constexpr uint64_t kSamplesPerSecond = 40'000;  // if all of the time went into it
  const uint64_t affordable = share_of(kSamplesPerSecond, g_options.overhead) + 1;
  const bool has_none = steer::is_on() || g_options.overhead == kAlways;
  g_longest_rest = has_none ? 0 : sampled_places() * 1'000'000'000 / affordable;
  g_idle = uint64_t{8} * 1'000'000'000 / affordable;
}

uint64_t end_of_rest(const watch::Rest& rest) {
  const uint64_t idle_from = __atomic_load_n(&g_last_sample, __ATOMIC_RELAXED) + g_idle;
  return rest.until() < idle_from ? rest.until() : idle_from;
}

void sample_in_turn(HostThread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc, By by) {
  if (g_longest_rest == 0) return static_cast<void>(take_sample(t, address, size, op, pc, by));
  constexpr uint64_t kBetweenTries = 20'000;  // nanoseconds
  const uint64_t now = watch::nanoseconds();
  watch::Rest& rest = g_rests[WatchHost::place_of(pc)];
  if (now >= end_of_rest(rest) && take_sample(t, address, size, op, pc, by)) {
    __atomic_store_n(&g_last_sample, watch::nanoseconds(), __ATOMIC_RELAXED);
    rest.begin(now, g_longest_rest);
  }
  const uint64_t until = end_of_rest(rest) > now ? end_of_rest(rest) : now + kBetweenTries;
  if (const uint32_t went_by = t.turns[WatchHost::place_of(pc)].wait(now, until); went_by != 0)
    slots::left_out(went_by);
}

// Whether it is in a module that was compiled for us: others are not what was asked for. Looking it up calls functions that we intercept.
bool is_programs_own(Thread& t, uintptr_t pc) {
  if (!kSampler) {
    const Scope scope(t);
    return is_instrumented(pc);
  }
  uintptr_t begin = 0;
  const watch::Site* site = planted::site_before(pc, begin);
  return site != nullptr && (site->flags & watch::Site::kAtomic) == 0;
}

bool is_ignored(const Thread& t, Op op) { return (writes(op) ? t.ignore_writes : t.ignore_reads) != 0; }

}  // namespace

void WatchHost::look_at(uintptr_t address, uintptr_t size, Op op, uintptr_t pc) {
  Thread* t = self;
  if (t == nullptr) [[unlikely]]
    return meet_and_look(address, size, op, pc);
  look_at(*t, address, size, op, pc);
}

void WatchHost::meet_and_look(uintptr_t address, uintptr_t size, Op op, uintptr_t pc) {
  if (Thread* t = current(); t != nullptr) look_at(*t, address, size, op, pc);
}

void WatchHost::look_closely(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc, bool is_turn) {
  if (size == 0 || is_ignored(t, op) || (steer::is_on() && !steer::is_place(pc))) return;
  meet(t, address, size, op, pc);  // what it is we know here; a trap only tells that it was
  if (is_turn) sample_in_turn(of(t), address, size, op, pc, By::Compiler);
}

void WatchHost::meet_samples(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc, uint64_t latest) {
  if (is_ignored(t, op)) return;
  watch::Sample with{};
  while (slots::take(of(t).clock, address, size, writes(op), latest, with)) {
    const Scope scope(t);
    report(t, with, describe(t, pc, packed(op, size)), with.address > address ? with.address : address);
  }
}

namespace host {
namespace {

constinit SpinLock g_lock;
constinit HostThread* g_spare = nullptr;  // of threads that are gone; their clocks go on

HostThread* spare_thread() {
  const Guard guard(g_lock);
  HostThread* t = g_spare;
  if (t != nullptr) g_spare = static_cast<HostThread*>(t->next);
  return t;
}

HostThread* reset(HostThread* t, Arena* arena, Frame* bottom, Frame* end) {
  static_cast<Thread&>(*t) = Thread{};
  t->arena = arena;
  t->bottom = t->top = bottom;
  t->end = end;
  return t;
}

HostThread* thread_to_use() {
  if (HostThread* t = spare_thread(); t != nullptr) return reset(t, t->arena, t->bottom, t->end);
  constexpr std::size_t kFrames = 8192;
  auto* t = static_cast<HostThread*>(map_or_die(sizeof(HostThread) + sizeof(Arena), "a thread"));
  auto* frames = static_cast<Frame*>(map_or_die(kFrames * sizeof(Frame), "call stacks"));
  return reset(t, new (t + 1) Arena{}, frames, frames + kFrames);
}

const char* reason(int error) {
  switch (error) {
    case EACCES:
    case EPERM: return "no permission for perf events; see perf_event_paranoid, or the container's seccomp profile";
    case ENOSYS: return "the kernel has none that raise a signal, or is older than 5.18";
    case ENOSPC: return "others use them, such as a debugger";
    case EMFILE: return "no file descriptor is left";
    default: return "the kernel does not have them";
  }
}

void tell(const slots::Started& started) {
  if (!started.hardware && g_options.breakpoints) {
    say("no hardware breakpoints: every access is compared instead, which is slower: ", reason(started.why));
  } else if (started.slots < watch::kBreakpoints) {
    say("fewer than four hardware breakpoints: ", reason(started.why));
  }
}

}  // namespace

void start() {
  g_began = watch::nanoseconds();
  g_delayed = g_delays = g_spared = g_changed = 0;
  steer::start(g_options.steer);
  if (steer::is_on()) g_options.breakpoints = false;  // who comes to the places says so itself
  if (!kSampler) draw_places();
  if constexpr (!kSampler) install_near_code();
  plan_rests();
  is_instrumented(reinterpret_cast<uintptr_t>(&start));  // the first look-up is not for a signal handler
  if (g_options.breakpoints || kSampler) watch_traps();
  // The share of time that may go into arming: a pause of so many times what an arming took.
  const uint64_t pause = g_options.overhead == 0 ? ~uint32_t{0} : kAlways / g_options.overhead - 1;
  const slots::Started started = slots::start({.hardware = g_options.breakpoints,
                                               .symmetric = g_options.symmetric && !kSampler,  // sees releases only
                                               .limit = kDelays ? 4 * g_options.delay : g_options.limit,
                                               .pause = kDelays ? 0 : pause});
  tell(started);
  if (!started.hardware && !kSampler) compare_all();
}

void start_in_child() {
  if (!slots::start_in_child().hardware && !kSampler) compare_all();
  g_began = watch::nanoseconds();
  g_delayed = 0;
}

namespace {

// The access that a breakpoint caught, as far as the program tells what its instruction did.
struct Caught {
  bool known, plain;
  uintptr_t pc;
  Op op;
  uint32_t size;
};
Caught caught_before(uintptr_t pc, const watch::Sample& with) {
  if constexpr (kSampler) {
    uintptr_t begin = 0;
    const watch::Site* site = planted::site_before(pc, begin);
    if (site == nullptr) return {};
    const bool writes = (site->flags & watch::Site::kWrites) != 0;
    return {writes || with.write, (site->flags & watch::Site::kKnown) != 0, begin, writes ? Op::Write : Op::Read,
            site->size};
  } else {
    // The kernel tells of a trap with the tag that the breakpoint has by then, which may be a later sample's. If that one waits for
    // a write, and this was none, the trap is not its own.
    const Announced call = announced_before(pc);
    const bool is_its_own = with.write || !call.known || writes(call.op);
    return {is_its_own, true, pc - 1, with.write ? call.op : Op::Write, call.known ? call.size : with.length};
  }
}

uintptr_t pc_of(const ucontext_t& context) { return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]); }

void sample_planted(const planted::Meeting& m, const ucontext_t& context) {
  if (!m.wanted) return;
  Thread* t = running_thread();
  if (t == nullptr || t->busy != 0 || (m.site->flags & watch::Site::kAtomic) != 0) return;
  const Op op = (m.site->flags & watch::Site::kWrites) != 0 ? Op::Write : Op::Read;
  if (is_ignored(*t, op)) return;
  const uint64_t plain = (m.site->flags & watch::Site::kKnown) != 0 ? kIsPlain : uint64_t{0};
  const planted::CallsAbove above(*t, pc_of(context));
  take_sample(of(*t), m.address, m.site->size, op, m.pc, By::Compiler, plain | (m.confirm ? kIsDelayed : uint64_t{0}));
}

// A trap that no data breakpoint raised.
bool met_planted(const siginfo_t& info, ucontext_t& context) {
  if (!planted::is_on()) return false;
  const uint64_t start = watch::processor_nanoseconds();
  planted::Meeting meeting{};
  if (!planted::meet(info, context, meeting)) return false;
  sample_planted(meeting, context);
  planted::spend(watch::processor_nanoseconds() - start);
  return true;
}

void caught(Thread& t, const watch::Trap& trap, uintptr_t pc, const ucontext_t& context) {
  watch::Sample with{};
  if (!slots::hit(of(t).clock, trap, with)) return;
  const Caught c = caught_before(pc, with);
  if (!c.known || is_ignored(t, c.op)) return;
  const planted::CallsAbove above(t, pc_of(context));
  const Scope scope(t);
  report(t, with, describe(t, c.pc, packed(c.op, c.size)), with.address, c.plain);
}

}  // namespace

bool trapped(const siginfo_t& info, ucontext_t& context) {
  const planted::Inside inside;
  watch::Trap trap{};
  const watch::breakpoints::Signal signal = watch::breakpoints::decode(info, trap);
  if (signal == watch::breakpoints::Signal::NotOurs) return met_planted(info, context);
  if (kSampler) planted::count_trap();
  const uintptr_t pc = pc_of(context);
  Thread* t = kSampler ? running_thread() : self;
  const bool is_programs = t != nullptr && t->busy == 0 && is_programs_own(*t, pc);
  if (signal == watch::breakpoints::Signal::Late || !is_programs) {
    slots::miss(trap);
  } else {
    caught(*t, trap, pc, context);
  }
  return true;
}

void put_statistics(Text& out) {
  const slots::Statistics s = slots::statistics();
  const struct {
    const char* name;
    uint64_t value;
  } fields[] = {
      {"rate", kSampler ? 0 : asked_rate()},
      {"places", kSampler ? 0 : WatchHost::kPlaces},
      {"sampled_places", sampled_places()},
      {"hardware", slots::is_hardware() ? uint64_t{1} : 0},
      {"armed", s.armed},
      {"fired", s.fired},
      {"expired", s.expired},
      {"stale", s.stale},
      {"own", s.own},
      {"busy", s.busy},
      {"late", s.late},
      {"delays", g_delays},
      {"spared", g_spared},
      {"changed", g_changed},
      {"delayed", g_delayed},
      {"elapsed", watch::nanoseconds() - g_began},
  };
  out.put(",\"watch\":{");
  for (const auto& f : fields) {
    if (&f != fields) out.put(',');
    out.put('"').put(f.name).put("\":").number(f.value);
  }
  out.put('}');
}

void interrupted(Thread&) {}  // what it takes from its sender is a tick
void resumed(Thread& t) { WatchHost::synchronize(t); }
ClockOperations clock_operations(Thread&) { return {}; }  // its only clock is one number

// --- threads ---

Thread* new_thread(Thread* parent, ThreadInfo* info) {
  HostThread* t = thread_to_use();
  t->info = info;
  if (parent != nullptr) watch::tick(of(*parent).clock);
  watch::tick(t->clock);  // after what its parent did, and another than the thread before it
  return t;
}
void end(Thread& t) { watch::tick(of(t).clock); }
void join(Thread& t, Thread&) { watch::tick(of(t).clock); }
void destroy(Thread& child) {
  watch::tick(of(child).clock);
  const Guard guard(g_lock);
  child.next = g_spare;
  g_spare = &of(child);
}

// --- synchronization, whatever it is ---

void acquire(Thread& t, uintptr_t, LockMode) { WatchHost::synchronize(t); }
void release(Thread& t, uintptr_t, LockMode) { WatchHost::synchronize(t); }
void wait(Thread& t, uintptr_t) { WatchHost::synchronize(t); }
void wake(Thread& t, uintptr_t, bool) { WatchHost::synchronize(t); }
void notify(Thread& t, uintptr_t, bool) { WatchHost::synchronize(t); }
void barrier_enter(Thread& t, uintptr_t) { WatchHost::synchronize(t); }
void barrier_leave(Thread& t, uintptr_t) { WatchHost::synchronize(t); }
void post(Thread& t, uintptr_t) { WatchHost::synchronize(t); }
void take(Thread& t, uintptr_t) { WatchHost::synchronize(t); }
void begin_library(Thread&, library::Call&) {}  // an order that nobody sees does not matter here
void end_library(Thread&, library::Call&) {}
void begin_callback(Thread&, library::Call&) {}
void end_callback(Thread&, library::Call&) {}
void fence(Thread& t, int) { WatchHost::synchronize(t); }
void release_atomic(Thread& t, uintptr_t) { WatchHost::synchronize(t); }
void acquire_atomic(Thread& t, uintptr_t) { WatchHost::synchronize(t); }

// --- memory ---

void access(Thread& t, uintptr_t address, uintptr_t size, bool write, uintptr_t pc) {
  if (size == 0) return;
  const Op op = write ? Op::Write : Op::Read;
  WatchHost::meet(t, address, size, op, pc);
  const bool is_sampled = (WatchHost::g_places[WatchHost::place_of(pc)] & WatchHost::kSampled) != 0 &&
                          (!steer::is_on() || steer::is_place(pc)) && of(t).turns[WatchHost::place_of(pc)].is_up();
  if (is_sampled && !is_ignored(t, op) && is_programs_own(t, pc))
    sample_in_turn(of(t), address, size, op, pc, By::Interceptor);
}
void begin_block(Thread&, uintptr_t address, uintptr_t size) {
  if (slots::any()) slots::forget(address, size);
}
// Blocks end by the million, and hardly ever where somebody waits.
bool is_end_noticed(uintptr_t address, uintptr_t most) { return slots::any_in(address, most); }
void end_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
  if (size == 0) return;
  WatchHost::meet(t, address, size, Op::Free, pc);
  if (slots::any()) slots::forget(address, size);
}
void drop_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) { end_block(t, address, size, pc); }
void forget_object(Thread&, uintptr_t) {}

}  // namespace host
}  // namespace pf::rt
