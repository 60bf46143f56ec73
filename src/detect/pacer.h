// PACER: FastTrack in sampling periods; between them time stands still, accesses are not recorded, and what FastTrack would
// replace is forgotten.
// Guarantee: every report is a race whose first access was sampled; of each variable, the first access whose last racing
// predecessor was sampled is reported (sampled shortest races). With everything sampled, the reports are FastTrack's. So
// a race is found as often as its first access is sampled. Periods need not begin at one moment for all threads: what a
// thread records depends on its own ticks only, and it ticks when it begins to sample.
// Source: PACER (seed 003), algorithms 9-16; clocks and versions are happens_before.h's. Its same-epoch rule holds outside of
// periods, too: a thread's accesses in the epoch of one that was sampled leave that one as it is.
// Cost: between periods an access to what was not sampled is one test, synchronization is O(1) unless it brings news.
#pragma once
#include "detect/fasttrack.h"

namespace pf {

inline constexpr std::string_view kPacerRules[] = {
    "read same epoch", "read exclusive", "read share",        "read shared", "write same epoch",
    "write exclusive", "write shared",   "atomic same epoch", "atomic read", "atomic write",
    "not sampled",     "reads dropped",  "write dropped"};
inline constexpr OptionInfo kPacerOptions[] = {
    {"rate", "R", "3%", "share of the program's work that is sampled"},
    {"period", "N", "4000 to 64000",
     "synchronization operations and allocations per period; by default longer ones later"},
    {"seed", "N", "1", "for drawing the periods"},
};
inline constexpr EngineInfo kPacerInfo = {
    .name = "pacer",
    .kind = StageKind::Detector,
    .summary = "FastTrack in random periods: each race is found at the sampling rate, at a cost proportional to it",
    .guarantee = "sampled shortest races: each race with a probability equal to the rate; no false alarm",
    .source = "PACER, algorithms 9-16",
    .options = kPacerOptions,
    .rules = kPacerRules,
};

// A detector that samples in periods. The host tells each thread when it begins to.
template <class D, class Env>
concept Samples = requires(typename D::Thread& t, Env& env) { D::begin_sampling(t, env); };

// What a host must tell: whether the thread whose event is being processed is in a sampling period. It is told whether a join or
// copy of clocks went through a whole clock.
template <class E>
concept SamplingEnvironment = Environment<E> && requires(E& env, bool whole) {
  { env.samples() } -> std::same_as<bool>;
  env.clock_operation(whole);
};

template <class Env>
struct Pacer : FastTrackRules<Env, HappensBefore<Env, true>> {
  static_assert(SamplingEnvironment<Env>);
  using Base = FastTrackRules<Env, HappensBefore<Env, true>>;
  using typename Base::Access;
  using typename Base::Epoch;
  using typename Base::Thread;
  using typename Base::Var;
  static constexpr const EngineInfo& kInfo = kPacerInfo;
  enum PacerRule : unsigned { NotSampled = Base::AtomicWrite + 1, ReadsDropped, WriteDropped };

  // The thread enters a sampling period: what it recorded and published before is of an earlier time.
  static void begin_sampling(Thread& t, Env& env) { Base::tick(t, env); }

  static bool is_unsampled(const Var& x) { return x.write.epoch.never() && x.reads.empty() && x.atomics == nullptr; }

  static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    if (env.samples()) return Base::read(t, x, a, env);
    if (is_unsampled(x)) return env.count(NotSampled);
    if (x.reads.last.epoch == Base::epoch(t)) return env.count(Base::ReadSameEpoch);
    if (!Base::ordered(x.write.epoch, t)) env.race(x.write);
    if (x.atomics != nullptr) Base::check(t, x.atomics->writes, env);
    drop(t, x.reads, env);
  }

  static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    if (env.samples()) return Base::write(t, x, a, env);
    if (is_unsampled(x)) return env.count(NotSampled);
    if (x.write.epoch == Base::epoch(t)) return env.count(Base::WriteSameEpoch);
    if (!Base::ordered(x.write.epoch, t)) env.race(x.write);
    Base::check(t, x.reads, env);
    if (x.atomics != nullptr) Base::check_atomics(t, x, env);
    env.count(WriteDropped);
    Base::clear(x, env);
  }

  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    if (env.samples()) return Base::atomic_read(t, x, a, env);
    if (is_unsampled(x)) return env.count(NotSampled);
    if (x.atomics != nullptr && x.atomics->reads.last.epoch == Base::epoch(t))
      return settle(Base::AtomicSameEpoch, env);
    if (!Base::ordered(x.write.epoch, t)) env.race(x.write);
    drop_atomics(t, x, &Base::Atomics::reads, env);
  }

  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    if (env.samples()) return Base::atomic_write(t, x, a, env);
    if (is_unsampled(x)) return env.count(NotSampled);
    if (x.atomics != nullptr && x.atomics->writes.last.epoch == Base::epoch(t))
      return settle(Base::AtomicSameEpoch, env);
    if (!Base::ordered(x.write.epoch, t)) env.race(x.write);
    Base::check(t, x.reads, env);
    drop_atomics(t, x, &Base::Atomics::writes, env);
  }

 private:
  // An atomic access that changes nothing, nor will while the variable and what its thread knows are the same.
  static void settle(unsigned rule, Env& env) {
    env.count(rule);
    env.settle();
  }

  template <class Kind>
  static void drop_atomics(const Thread& t, Var& x, Kind kind, Env& env) {
    if (x.atomics == nullptr) return env.settle();
    if (!may_drop(t, x.atomics->*kind)) return settle(ReadsDropped, env);
    drop(t, x.atomics->*kind, env);
    forget_empty(x, env);
  }
  template <class AnyMarks>
  static bool may_drop(const Thread& t, const AnyMarks& marks) {
    if (marks.map.empty()) return !marks.last.epoch.never() && Base::ordered(marks.last.epoch, t);
    bool is_own = false;
    marks.map.for_each([&](const Mark<Env>& m) { is_own |= have_one_entry<Env>(m.epoch.slot(), t.slot); });
    return is_own;
  }
  // What this access would replace if it were recorded; of concurrent ones, its thread's own.
  template <class AnyMarks>
  static void drop(const Thread& t, AnyMarks& marks, Env& env) {
    env.count(ReadsDropped);
    if (marks.map.empty()) {
      if (Base::ordered(marks.last.epoch, t)) marks.last = {};
      return;
    }
    marks.map.remove(t.slot, env);
    Mark<Env> only{};
    unsigned count = 0;
    marks.map.for_each([&](const Mark<Env>& m) {
      only = m;
      ++count;
    });
    if (count > 1) return;
    marks.map.clear(env);
    marks.last = only;
  }

  static void forget_empty(Var& x, Env& env) {
    if (x.atomics != nullptr && x.atomics->writes.empty() && x.atomics->reads.empty()) Base::forget_atomics(x, env);
  }
};

}  // namespace pf
