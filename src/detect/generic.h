// Generic: full vector clocks of reads and writes for every variable, checked at every access.
// Guarantee: an access is reported iff it races with an earlier one; no false alarm.
// Source: PACER (Bond, Coons, McKinley, PLDI 2010), algorithms 1-6; atomics are accesses that do not race among themselves.
// Cost: memory and time per access grow with the threads that touched the variable. The reference, not the daily tool.
#pragma once
#include "core/happens_before.h"
#include "core/mark_map.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kGenericRules[] = {"read", "write", "atomic read", "atomic write"};
inline constexpr EngineInfo kGenericInfo = {
    .name = "generic",
    .kind = StageKind::Detector,
    .summary = "full read and write vector clocks, checked at every access",
    .guarantee = "reports exactly the accesses that race with an earlier one",
    .source = "PACER, algorithms 1-6",
    .options = {},
    .rules = kGenericRules,
};

template <class Env>
struct Generic : HappensBefore<Env> {
  using Hb = HappensBefore<Env>;
  using typename Hb::Thread;
  using Access = typename Env::Access;
  using Marks = MarkMap<Env>;
  enum Rule : unsigned { Read, Write, AtomicRead, AtomicWrite };
  static constexpr const EngineInfo& kInfo = kGenericInfo;

  struct Var {
    Marks writes, reads, atomic_writes, atomic_reads;
  };

  static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    env.count(Read);
    check(t, x.writes, env);
    check(t, x.atomic_writes, env);
    x.reads.put({Hb::epoch(t), a}, env);
  }

  static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    env.count(Write);
    check(t, x.writes, env);
    check(t, x.reads, env);
    check(t, x.atomic_writes, env);
    check(t, x.atomic_reads, env);
    x.writes.put({Hb::epoch(t), a}, env);
  }

  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    env.count(AtomicRead);
    check(t, x.writes, env);
    x.atomic_reads.put({Hb::epoch(t), a}, env);
  }

  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    env.count(AtomicWrite);
    check(t, x.writes, env);
    check(t, x.reads, env);
    x.atomic_writes.put({Hb::epoch(t), a}, env);
  }

  static Var clone(const Var& x, Env& env) {
    return {x.writes.clone(env), x.reads.clone(env), x.atomic_writes.clone(env), x.atomic_reads.clone(env)};
  }
  static void clear(Var& x, Env& env) {
    x.writes.clear(env);
    x.reads.clear(env);
    x.atomic_writes.clear(env);
    x.atomic_reads.clear(env);
  }

 private:
  static void check(const Thread& t, const Marks& earlier, Env& env) {
    earlier.for_each([&](const Mark<Env>& m) {
      if (!Hb::ordered(m.epoch, t)) env.race(m);
    });
  }
};

}  // namespace pf
