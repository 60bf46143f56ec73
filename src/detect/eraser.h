// Eraser: is there a lock that every access to a shared variable holds?
// Guarantee: warns when a variable that several threads touch, one of them writing, has no common lock left. Order by fork, join
// and the like is not known to it, so it warns of accesses that cannot race; and it misses races of the first thread, which
// it takes for initialization. The baseline, not the daily tool.
// Source: Savage et al. 1997, as SimpleLock (seed 001) algorithm 2, with the states virgin, exclusive, shared and shared-modified.
// A read lock protects reads only. An atomic access needs no lock and changes no state. A warning names the latest conflicting
// access of another thread; as long as there is none, the warning waits.
// Cost: one intersection per access to shared data.
#pragma once
#include "core/hybrid.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kEraserRules[] = {"virgin", "exclusive", "shared", "shared-modified", "atomic"};
inline constexpr EngineInfo kEraserInfo = {
    .name = "eraser",
    .kind = StageKind::Detector,
    .summary = "locksets: is there a lock that every access to the variable holds?",
    .guarantee = "warns of shared data without a common lock; false alarms where fork, join or the like order accesses",
    .source = "Eraser, SimpleLock algorithm 2",
    .options = {},
    .rules = kEraserRules,
};

template <class Env>
struct Eraser : Hybrid<Env> {
  static_assert(LocksetEnvironment<Env>);
  using Base = Hybrid<Env>;
  using typename Base::Access;
  using typename Base::Sighting;
  using typename Base::Thread;
  static constexpr const EngineInfo& kInfo = kEraserInfo;
  enum Rule : unsigned { VirginRule, ExclusiveRule, SharedRule, SharedModifiedRule, AtomicRule };
  enum class State : uint8_t { Virgin, Exclusive, Shared, SharedModified };

  // The latest sighting, and the latest of another thread than that one's. By thread, not by slot: slots change hands.
  struct Latest {
    Sighting newest{}, other{};
    ThreadId newest_thread{};

    void add(const Sighting& s, ThreadId thread) {
      if (newest_thread != thread) other = newest;
      newest = s;
      newest_thread = thread;
    }
    const Sighting* of_others(ThreadId thread) const {
      const Sighting& found = newest_thread != thread ? newest : other;
      return found.weak.never() ? nullptr : &found;
    }
  };
  struct Var {
    State state = State::Virgin;
    ThreadId owner{};                 // while exclusive
    LocksetId candidates = kNoLocks;  // locks that all accesses held since it is shared
    Latest writes, reads;
  };

  static void read(const Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, false, env); }
  static void write(const Thread& t, Var& x, const Access& a, Env& env) { access(t, x, a, true, env); }
  static void atomic_read(const Thread&, Var&, const Access&, Env& env) { env.count(AtomicRule); }
  static void atomic_write(const Thread&, Var&, const Access&, Env& env) { env.count(AtomicRule); }

  static Var clone(const Var& x, Env&) { return x; }
  static void clear(Var& x, Env&) { x = {}; }

 private:
  static void access(const Thread& t, Var& x, const Access& a, bool writes, Env& env) {
    const Sighting now = Base::see(t, a, env);
    if (x.state == State::Virgin || (x.state == State::Exclusive && x.owner == t.full.id)) {
      env.count(x.state == State::Virgin ? VirginRule : ExclusiveRule);
      x.state = State::Exclusive;
      x.owner = t.full.id;
    } else {
      share(x, writes, env);
      if (x.state == State::SharedModified && x.candidates == kNoLocks) warn(t, x, writes, env);
    }
    (writes ? x.writes : x.reads).add(now, t.full.id);
  }

  static void share(Var& x, bool writes, Env& env) {
    const bool first = x.state == State::Exclusive;
    x.candidates = first ? env.protecting(env.held(), writes) : env.common(x.candidates, env.held(), writes);
    if (writes) x.state = State::SharedModified;
    if (x.state == State::Exclusive) x.state = State::Shared;
    env.count(x.state == State::Shared ? SharedRule : SharedModifiedRule);
  }

  static void warn(const Thread& t, const Var& x, bool writes, Env& env) {
    const Sighting* earlier = x.writes.of_others(t.full.id);
    if (earlier == nullptr && writes) earlier = x.reads.of_others(t.full.id);
    if (earlier != nullptr) Base::report(*earlier, t, env);
  }
};

}  // namespace pf
