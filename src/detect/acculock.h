// AccuLock: weak happens-before epochs first, and locksets only where those leave two accesses unordered.
// Guarantee: every reported pair conflicts, is unordered by weak happens-before and holds no lock in common. It keeps one
// sighting of the last write and one per thread of the last read, so it may miss what multilock finds.
// Source: Xie, Xue, Zhang 2013, as SimpleLock (seed 001) §VI tells it. Within one epoch a sighting is replaced unless the
// old one held no more locks, for then the old one can still race with more.
// Cost: a read looks at the last write, a write at the last read of each thread too.
#pragma once
#include "core/array.h"
#include "core/hybrid.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kAccuLockRules[] = {"kept", "replaced", "new reader"};
inline constexpr EngineInfo kAccuLockInfo = {
    .name = "acculock",
    .kind = StageKind::Detector,
    .summary = "weak happens-before epochs, locksets where those leave accesses unordered",
    .guarantee = "reports only pairs unordered by weak happens-before with no common lock; may miss some",
    .source = "AccuLock, SimpleLock §VI",
    .options = {},
    .rules = kAccuLockRules,
};

template <class Env>
struct AccuLock : Hybrid<Env> {
  static_assert(LocksetEnvironment<Env>);
  using Base = Hybrid<Env>;
  using typename Base::Access;
  using typename Base::Sighting;
  using typename Base::Thread;
  using Sightings = Array<Sighting, Env>;  // one per slot
  static constexpr const EngineInfo& kInfo = kAccuLockInfo;
  enum Rule : unsigned { Kept, Replaced, NewReader };

  struct Var {
    Sighting write{};
    Sighting atomic_write{};
    Sightings reads, atomic_reads;
  };

  static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    check(t, x.write, true, now, false, env);
    check(t, x.atomic_write, true, now, false, env);
    remember(x.reads, now, env);
  }
  static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    check(t, x.write, true, now, true, env);
    check(t, x.atomic_write, true, now, true, env);
    check(t, x.reads, now, env);
    check(t, x.atomic_reads, now, env);
    replace(x.write, now, env);
  }
  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    check(t, x.write, true, now, false, env);
    remember(x.atomic_reads, now, env);
  }
  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    check(t, x.write, true, now, true, env);
    check(t, x.reads, now, env);
    replace(x.atomic_write, now, env);
  }

  static Var clone(const Var& x, Env& env) {
    return {x.write, x.atomic_write, x.reads.clone(env), x.atomic_reads.clone(env)};
  }
  static void clear(Var& x, Env& env) {
    x.write = x.atomic_write = {};
    x.reads.release(env);
    x.atomic_reads.release(env);
  }

 private:
  static void check(const Thread& t, const Sighting& s, bool s_writes, const Sighting& now, bool writes, Env& env) {
    if (s.weak.never() || !Base::concurrent(s, t)) return;
    if (!env.share_lock(s.locks, s_writes, now.locks, writes)) Base::report(s, t, env);
  }
  static void check(const Thread& t, const Sightings& reads, const Sighting& now, Env& env) {
    for (uint32_t i = 0; i < reads.size(); ++i) check(t, reads[i], false, now, true, env);
  }

  static void replace(Sighting& old, const Sighting& now, Env& env) {
    const bool keep = old.weak == now.weak && old.locks != now.locks && env.is_subset(old.locks, now.locks);
    env.count(keep ? Kept : Replaced);
    if (!keep) old = now;
  }

  static void remember(Sightings& reads, const Sighting& now, Env& env) {
    for (uint32_t i = 0; i < reads.size(); ++i) {
      if (reads[i].weak.slot() == now.weak.slot()) return replace(reads[i], now, env);
    }
    env.count(NewReader);
    reads.push(now, env);
  }
};

}  // namespace pf
