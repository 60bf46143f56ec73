// Clock races: two conflicting accesses such that the first one's thread has not synchronized between them. All that is known of
// synchronization is how often each thread did any: no vector clock, no lock.
// Guarantee: an access is reported iff it is in a clock race with an earlier one; with `symmetric`, iff either thread has not
// synchronized between the two. Every clock race is a race: for the first access to come before the second, its thread must
// release something after it, and the other one acquire that.
// Source: CRSampler (seed 000), definition 1; the symmetric rule is ours. Over a trace nothing is sampled: these are all that a run
// with breakpoints can find in it (runtime/watch_host.h).
// Cost: synchronization is O(1); an access takes one step for every thread that has accessed the variable.
#pragma once
#include "core/array.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kClockRaceRules[] = {"access"};
inline constexpr OptionInfo kClockRaceOptions[] = {
    {"rate", "R", "1%", "share of the program's instructions that are sampled"},
    {"limit", "T", "15ms", "how long a sample waits before another may take its breakpoint"},
    {"overhead", "R", "5%", "share of the time that may go into setting breakpoints"},
    {"symmetric", "", "off", "also report if only the second thread has not synchronized"},
    {"seed", "N", "a fresh one", "for drawing the instructions"},
};
inline constexpr EngineInfo kClockRaceInfo = {
    .name = "clockrace",
    .kind = StageKind::Detector,
    .summary =
        "sampled accesses wait at a hardware breakpoint for a racing one, and nothing is delayed: for production",
    .guarantee = "reports races only; of a trace, exactly the clock races",
    .source = "CRSampler, definition 1",
    .options = kClockRaceOptions,
    .rules = kClockRaceRules,
};

// What a host must tell: when it is, and which rule is asked for.
template <class E>
concept TimedEnvironment = Environment<E> && requires(E& env) {
  { env.time() } -> std::same_as<uint64_t&>;  // counts accesses; the detector's to advance
  { env.is_symmetric() } -> std::same_as<bool>;
};

template <class Env>
struct ClockRace {
  static_assert(TimedEnvironment<Env>);
  using Access = typename Env::Access;
  using Epoch = typename Env::Epoch;
  static constexpr const EngineInfo& kInfo = kClockRaceInfo;
  enum Rule : unsigned { AnyAccess };

  // Outlives its thread: accesses are compared with it later.
  struct Clock {
    uint64_t ticks, seen;  // seen: the time of the last tick
  };
  struct Thread {
    Slot slot;
    Clock* clock;
  };
  struct Lock {};
  struct Condition {};
  struct Barrier {};
  struct Semaphore {};
  struct Atomic {};
  struct Grave {};

  enum class Kind : uint8_t { Read, Write, AtomicRead, AtomicWrite };
  // The latest access of one kind by one thread: whoever races with an earlier one races with it.
  struct Last {
    Mark<Env> mark;
    const Clock* thread;
    uint64_t ticks, time;
    Kind kind;
  };
  struct Var {
    Array<Last, Env> accesses;
  };

  // --- threads: slots are not used again ---

  static void start(Thread& t, ThreadId, Slot slot) { t = {slot, nullptr}; }
  static Grave bury(const Thread&) { return {}; }
  static bool may_succeed(const Grave&, const Thread&) { return false; }
  static void succeed(Thread&, ThreadId, const Grave&) {}
  static void fork(Thread& t, Thread& child, Env& env) {
    sync(t, env);
    sync(child, env);
  }
  static void join(Thread& t, const Thread& child, Env& env) {
    sync(child, env);  // its end
    sync(t, env);
  }
  static void destroy(Thread&, Env&) {}
  static Epoch epoch(const Thread& t) { return Epoch(t.slot, 1); }

  // --- synchronization: onSync ---

  static void acquire(Thread& t, Lock&, Env& env) { sync(t, env); }
  static void release(Thread& t, Lock&, Env& env) { sync(t, env); }
  static void read_acquire(Thread& t, Lock&, Env& env) { sync(t, env); }
  static void read_release(Thread& t, Lock&, Env& env) { sync(t, env); }
  static void wait(Thread& t, Condition&, Env& env) { sync(t, env); }
  static void notify(Thread& t, Condition&, Env& env) { sync(t, env); }
  static void wake(Thread& t, Env& env) { sync(t, env); }
  static void barrier_enter(Thread& t, Barrier&, Env& env) { sync(t, env); }
  static void barrier_leave(Thread& t, Env& env) { sync(t, env); }
  static void sem_post(Thread& t, Semaphore&, Env& env) { sync(t, env); }
  static void sem_wait(Thread& t, Semaphore&, Env& env) { sync(t, env); }
  // On both sides of the access that the operation is.
  static void atomic_before(Thread& t, Atomic&, Op, MemoryOrder order, Env& env) {
    if (order != MemoryOrder::Relaxed) sync(t, env);
  }
  static void atomic_after(Thread& t, Atomic&, Op, MemoryOrder order, Env& env) {
    if (order != MemoryOrder::Relaxed) sync(t, env);
  }
  static void fence(Thread& t, MemoryOrder, Env& env) { sync(t, env); }
  static void forget(Lock&, Env&) {}
  static void forget(Semaphore&, Env&) {}
  static void forget(Atomic&, Env&) {}

  // --- accesses ---

  static void read(Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, Kind::Read, env); }
  static void write(Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, Kind::Write, env); }
  static void atomic_read(Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, Kind::AtomicRead, env); }
  static void atomic_write(Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, Kind::AtomicWrite, env); }

  static Var clone(const Var& x, Env& env) { return {x.accesses.clone(env)}; }
  static void clear(Var& x, Env& env) { x.accesses.release(env); }

 private:
  static Clock& clock(Thread& t, Env& env) {
    if (t.clock == nullptr) t.clock = new (env.allocate(sizeof(Clock))) Clock{};
    return *t.clock;
  }
  static void sync(Thread& t, Env& env) {
    Clock& c = clock(t, env);
    ++c.ticks;
    c.seen = env.time();
  }
  static void sync(const Thread& t, Env& env) {
    if (t.clock != nullptr) *t.clock = {t.clock->ticks + 1, env.time()};
  }

  static bool writes(Kind k) { return k == Kind::Write || k == Kind::AtomicWrite; }
  static bool is_atomic(Kind k) { return k == Kind::AtomicRead || k == Kind::AtomicWrite; }
  static bool conflict(Kind a, Kind b) { return (writes(a) || writes(b)) && !(is_atomic(a) && is_atomic(b)); }

  static bool is_clock_race(const Last& earlier, const Clock& now, Env& env) {
    return earlier.thread->ticks == earlier.ticks || (env.is_symmetric() && now.seen < earlier.time);
  }

  static void access(Thread& t, Var& x, const Access& a, Kind kind, Env& env) {
    env.count(AnyAccess);
    const Clock& mine = clock(t, env);
    const Last now{{epoch(t), a}, &mine, mine.ticks, ++env.time(), kind};
    bool kept = false;
    for (uint32_t i = 0; i < x.accesses.size(); ++i) {
      Last& earlier = x.accesses[i];
      if (earlier.thread == &mine) {
        if (earlier.kind != kind) continue;
        earlier = now;
        kept = true;
      } else if (conflict(earlier.kind, kind) && is_clock_race(earlier, mine, env)) {
        env.race(earlier.mark);
      }
    }
    if (!kept) x.accesses.push(now, env);
  }
};

}  // namespace pf
