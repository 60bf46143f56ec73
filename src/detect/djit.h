// Djit+: Generic's clocks, but a thread's later reads (or writes) of a variable in one epoch are not checked again.
// Guarantee: the same racy variables as Generic, and the same first race of each; no false alarm.
// Source: Pozniansky and Schuster 2003, as SimpleLock §III tells it. Why it is enough: what raced with the skipped
// access and came after the thread's first access of the epoch already raced with that one.
#pragma once
#include "detect/generic.h"

namespace pf {

inline constexpr std::string_view kDjitRules[] = {"read",
                                                  "write",
                                                  "atomic read",
                                                  "atomic write",
                                                  "read same epoch",
                                                  "write same epoch",
                                                  "atomic read same epoch",
                                                  "atomic write same epoch"};
inline constexpr EngineInfo kDjitInfo = {
    .name = "djit",
    .kind = StageKind::Detector,
    .summary = "full vector clocks, checked once per thread, variable and epoch",
    .guarantee = "reports the racy variables, the first race of each exact; no false alarm",
    .source = "Djit+, SimpleLock §III",
    .options = {},
    .rules = kDjitRules,
};

template <class Env>
struct Djit : Generic<Env> {
  using Full = Generic<Env>;
  using typename Full::Access;
  using typename Full::Thread;
  using typename Full::Var;
  static constexpr const EngineInfo& kInfo = kDjitInfo;
  enum Rule : unsigned { ReadSameEpoch = 4, WriteSameEpoch, AtomicReadSameEpoch, AtomicWriteSameEpoch };

  static constexpr bool kSettles = true;
  static typename Env::Epoch period(const Thread& t) { return Full::epoch(t); }

  static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    env.settle();
    if (x.reads.has(Full::epoch(t))) return env.count(ReadSameEpoch);
    Full::read(t, x, a, env);
  }
  // Whoever races with a read of the same epoch races with this write, too.
  static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    env.settle();
    if (x.writes.has(Full::epoch(t))) return env.count(WriteSameEpoch);
    Full::write(t, x, a, env);
  }
  static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    if (x.atomic_reads.has(Full::epoch(t))) return env.count(AtomicReadSameEpoch);
    Full::atomic_read(t, x, a, env);
  }
  static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    if (x.atomic_writes.has(Full::epoch(t))) return env.count(AtomicWriteSameEpoch);
    Full::atomic_write(t, x, a, env);
  }
};

}  // namespace pf
