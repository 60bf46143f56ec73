// AccuLock-Multi: weak happens-before and locksets, with as many sightings per variable as it takes.
// Guarantee: reports exactly the pairs of sites with accesses that conflict, are unordered by weak happens-before and hold
// no lock in common (a read lock protects reads only). Real when full happens-before does not order them either.
// Source: SimpleLock (seed 001), "AccuLock-Multi". A sighting is replaced only by a newer one of the same thread, epoch, site
// and operation whose locks are a subset, because only then every pair it could still be part of is kept.
// Cost: an access looks at every sighting of the variable, except when the same one was made before.
#pragma once
#include "core/array.h"
#include "core/hybrid.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kMultiLockRules[] = {"seen before", "no larger lockset", "new sighting"};
inline constexpr EngineInfo kMultiLockInfo = {
    .name = "multilock",
    .kind = StageKind::Detector,
    .summary = "AccuLock-Multi: weak happens-before and every lockset seen; finds what a lucky schedule hid",
    .guarantee = "reports exactly the site pairs unordered by weak happens-before with no common lock",
    .source = "SimpleLock, AccuLock-Multi",
    .options = {},
    .rules = kMultiLockRules,
};

template <class Env>
struct MultiLock : Hybrid<Env> {
  static_assert(LocksetEnvironment<Env>);
  using Base = Hybrid<Env>;
  using typename Base::Access;
  using typename Base::Sighting;
  using typename Base::Thread;
  using Sightings = Array<Sighting, Env>;
  static constexpr const EngineInfo& kInfo = kMultiLockInfo;
  enum Rule : unsigned { SeenBefore, NoLargerLockset, NewSighting };

  struct Var {
    Sightings writes, reads, atomic_writes, atomic_reads;
  };

  static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    if (!remember(t, x.reads, a, env)) return;
    check(t, x.writes, true, false, env);
    check(t, x.atomic_writes, true, false, env);
  }
  static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    if (!remember(t, x.writes, a, env)) return;
    check(t, x.writes, true, true, env);
    check(t, x.reads, false, true, env);
    check(t, x.atomic_writes, true, true, env);
    check(t, x.atomic_reads, false, true, env);
  }
  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    if (!remember(t, x.atomic_reads, a, env)) return;
    check(t, x.writes, true, false, env);
  }
  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    if (!remember(t, x.atomic_writes, a, env)) return;
    check(t, x.writes, true, true, env);
    check(t, x.reads, false, true, env);
  }

  static Var clone(const Var& x, Env& env) {
    return {x.writes.clone(env), x.reads.clone(env), x.atomic_writes.clone(env), x.atomic_reads.clone(env)};
  }
  static void clear(Var& x, Env& env) {
    x.writes.release(env);
    x.reads.release(env);
    x.atomic_writes.release(env);
    x.atomic_reads.release(env);
  }

 private:
  // False if nothing new can come of it: the same was seen before, and whoever came in between has met it.
  static bool remember(const Thread& t, Sightings& list, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    for (uint32_t i = 0; i < list.size(); ++i) {
      Sighting& s = list[i];
      if (!Base::same_kind(s, now)) continue;
      if (s.full == now.full) {  // no release since: the locks of then are still held
        env.count(SeenBefore);
        return false;
      }
      if (!env.is_subset(now.locks, s.locks)) continue;
      env.count(NoLargerLockset);
      s = now;
      return true;
    }
    env.count(NewSighting);
    list.push(now, env);
    return true;
  }

  static void check(const Thread& t, const Sightings& earlier, bool earlier_writes, bool writes, Env& env) {
    for (uint32_t i = 0; i < earlier.size(); ++i) {
      const Sighting& s = earlier[i];
      if (Base::concurrent(s, t) && !env.share_lock(s.locks, earlier_writes, env.held(), writes)) {
        Base::report(s, t, env);
      }
    }
  }
};

}  // namespace pf
