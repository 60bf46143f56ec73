// AccuLock-Multi: weak happens-before and locksets, with as many sightings per variable as it takes.
// Guarantee: reports exactly the pairs of sites with accesses that conflict, are unordered by weak happens-before and hold
// no lock in common (a read lock protects reads only). Real when full happens-before does not order them either.
// Source: SimpleLock (seed 001), "AccuLock-Multi". A sighting is replaced only by a newer one of the same thread, epoch, site
// and operation whose locks are a subset, because only then every pair it could still be part of is kept.
// Cost: an access looks at every thread, epoch and lockset that the variable was seen with, and among its own at the sites, except
// when the same one was made before.
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

// The sightings of one thread in one weak epoch under one set of locks: what they are ordered with and protected from is one question.
template <class Env>
struct MultiLockGroup {
  struct Seen {
    typename Env::Access access;
    typename Env::Epoch full;
  };
  typename Env::Epoch epoch;
  LocksetId locks;
  Array<Seen, Env> seen;

  Seen* find(const typename Env::Access& access) {
    for (uint32_t i = 0; i < seen.size(); ++i) {
      if (Env::same_place(seen[i].access, access)) return &seen[i];
    }
    return nullptr;
  }
};

template <class Env>
struct MultiLockList {
  using Group = MultiLockGroup<Env>;
  Array<Group, Env> groups;

  void add(typename Env::Epoch epoch, LocksetId locks, const typename Group::Seen& seen, Env& env) {
    uint32_t i = 0;
    while (i < groups.size() && (groups[i].epoch != epoch || groups[i].locks != locks)) ++i;
    if (i == groups.size()) groups.push({epoch, locks, {}}, env);
    groups[i].seen.push(seen, env);
  }

  MultiLockList clone(Env& env) const {
    MultiLockList copy{groups.clone(env)};
    for (uint32_t i = 0; i < groups.size(); ++i) copy.groups[i].seen = groups[i].seen.clone(env);
    return copy;
  }
  void release(Env& env) {
    for (uint32_t i = 0; i < groups.size(); ++i) groups[i].seen.release(env);
    groups.release(env);
  }
};

template <class Env>
struct MultiLock : Hybrid<Env> {
  static_assert(LocksetEnvironment<Env>);
  using Base = Hybrid<Env>;
  using typename Base::Access;
  using typename Base::Sighting;
  using typename Base::Thread;
  using List = MultiLockList<Env>;
  using Group = MultiLockGroup<Env>;
  static constexpr const EngineInfo& kInfo = kMultiLockInfo;
  enum Rule : unsigned { SeenBefore, NoLargerLockset, NewSighting };

  struct Var {
    List writes, reads, atomic_writes, atomic_reads;
  };

  static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    if (!remember(x.reads, now, env)) return;
    check(t, x.writes, true, now, false, env);
    check(t, x.atomic_writes, true, now, false, env);
  }
  static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    if (!remember(x.writes, now, env)) return;
    check(t, x.writes, true, now, true, env);
    check(t, x.reads, false, now, true, env);
    check(t, x.atomic_writes, true, now, true, env);
    check(t, x.atomic_reads, false, now, true, env);
  }
  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    if (!remember(x.atomic_reads, now, env)) return;
    check(t, x.writes, true, now, false, env);
  }
  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    const Sighting now = Base::see(t, a, env);
    if (!remember(x.atomic_writes, now, env)) return;
    check(t, x.writes, true, now, true, env);
    check(t, x.reads, false, now, true, env);
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
  static bool remember(List& list, const Sighting& now, Env& env) {
    const typename Group::Seen seen{now.access, now.full};
    for (uint32_t i = 0; i < list.groups.size(); ++i) {
      Group& group = list.groups[i];
      typename Group::Seen* known = group.epoch == now.weak ? group.find(seen.access) : nullptr;
      if (known == nullptr) continue;
      if (known->full == now.full) {  // no release since: the locks of then are still held
        env.count(SeenBefore);
        return false;
      }
      if (!env.is_subset(now.locks, group.locks)) continue;
      env.count(NoLargerLockset);
      if (group.locks == now.locks) {
        *known = seen;
        return true;
      }
      group.seen.remove(static_cast<uint32_t>(known - &group.seen[0]));
      list.add(now.weak, now.locks, seen, env);
      return true;
    }
    env.count(NewSighting);
    list.add(now.weak, now.locks, seen, env);
    return true;
  }

  static void check(const Thread& t, const List& earlier, bool earlier_writes, const Sighting& now, bool writes,
                    Env& env) {
    LocksetId asked = kNoLocks;  // threads tend to hold the same locks for a variable
    bool shared = false;
    for (uint32_t i = 0; i < earlier.groups.size(); ++i) {
      const Group& group = earlier.groups[i];
      if (Base::Weak::ordered(group.epoch, t.weak)) continue;
      if (group.locks != asked) shared = env.share_lock(asked = group.locks, earlier_writes, now.locks, writes);
      if (shared) continue;
      for (uint32_t k = 0; k < group.seen.size(); ++k) {
        Base::report({group.epoch, group.seen[k].full, group.seen[k].access}, t, env);
      }
    }
  }
};

}  // namespace pf
