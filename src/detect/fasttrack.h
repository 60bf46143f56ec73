// FastTrack: one write epoch per variable; reads are one epoch while they are ordered and a map by slot when not.
// Guarantee: reports a variable iff it has a race; its first race is the trace's first; no false alarm ever.
// Source: Flanagan and Freund, PLDI 2009, as SimpleLock algorithm 1 and PACER algorithms 7-8 have it (a write clears
// the reads). A read takes the place of those that it comes after, be they one or many: whoever races with one of these
// later races with it, too. Atomics: kept apart, since an atomic write replaces neither the plain write nor the plain reads, with
// which later atomics conflict; a plain write, which conflicts with everything, replaces them all.
// Cost: same epoch: one load, one compare. Ordered: O(1). Concurrent readers: who comes next looks at each of them (of many,
// a reader only when it is new among them).
#pragma once
#include "core/happens_before.h"
#include "core/mark_map.h"
#include "detect/detector.h"

namespace pf {

inline constexpr std::string_view kFastTrackRules[] = {
    "read same epoch", "read exclusive", "read share",        "read shared", "write same epoch",
    "write exclusive", "write shared",   "atomic same epoch", "atomic read", "atomic write"};
inline constexpr OptionInfo kFastTrackOptions[] = {
    {"libs", "barrier|arguments", "none", "calls into code without instrumentation order what they may have ordered"},
    {"known", "NAMES", "none", "with libs: libraries and functions that order nothing, as in known=libz*/crc32"},
    {"stateless", "NAMES", "none", "with libs: libraries that order only by what their callers hand to them"},
    {"show", "", "off", "with libs: tell of the pairs that only such calls may have ordered"},
};
inline constexpr EngineInfo kFastTrackInfo = {
    .name = "fasttrack",
    .kind = StageKind::Detector,
    .summary = "epochs instead of clocks: exact happens-before at the price of a compare",
    .guarantee = "reports exactly the racy variables, the first race of each exact; no false alarm",
    .source = "FastTrack; SimpleLock algorithm 1, PACER algorithms 7-8",
    .options = kFastTrackOptions,
    .rules = kFastTrackRules,
};

// How concurrent readers are kept: a map of the variable's own, or whatever the host has.
template <class Env>
struct ReadMapOf {
  using Type = MarkMap<Env>;
};
template <class Env>
  requires requires { typename Env::ReadMap; }
struct ReadMapOf<Env> {
  using Type = typename Env::ReadMap;
};

// Marks that are one while each comes after the last, and a map by slot while several are concurrent.
template <class Env, class Map = MarkMap<Env>>
struct AdaptiveMarks {
  Mark<Env> last{};  // "never" while the map is in use
  Map map;

  bool empty() const { return last.epoch.never() && map.empty(); }
  bool has(typename Env::Epoch e) const { return last.epoch == e || map.has(e); }
  template <class F>
  [[gnu::always_inline]] void for_each(F&& f) const {
    if (!last.epoch.never()) f(last);
    map.for_each(f);
  }
  void share(const Mark<Env>& m, Env& env) {
    map.put(last, env);
    map.put(m, env);
    last = {};
  }
  // The same where marks that the new one comes after are left out.
  template <class IsBefore>
  void follow(const Mark<Env>& m, IsBefore&& is_before, Env& env) {
    if (!map.follow(m, is_before, env)) last = m;
  }
  void clear(Env& env) {
    last = {};
    map.clear(env);
  }
  AdaptiveMarks clone(Env& env) const { return {last, map.clone(env)}; }
};

// The rules over any clocks.
template <class Env, class Clocks>
struct FastTrackRules : Clocks {
  using Hb = Clocks;
  using typename Hb::Epoch;
  using typename Hb::Thread;
  using Access = typename Env::Access;
  using Marks = AdaptiveMarks<Env>;
  using Reads = AdaptiveMarks<Env, typename ReadMapOf<Env>::Type>;
  enum Rule : unsigned {
    ReadSameEpoch,
    ReadExclusive,
    ReadShare,
    ReadShared,
    WriteSameEpoch,
    WriteExclusive,
    WriteShared,
    AtomicSameEpoch,
    AtomicRead,
    AtomicWrite
  };

  struct Atomics {
    Marks writes, reads;
  };
  struct Var {
    Mark<Env> write{};
    Reads reads;
    Atomics* atomics = nullptr;  // since the last plain write
  };

  // [Read Same Epoch] and [Write Same Epoch]. Hot: one load, one compare, one branch for both.
  static bool same_epoch(const Thread& t, const Var& x, Op op, Env& env) {
    const bool write = op == Op::Write;
    const bool same = (write ? x.write : x.reads.last).epoch == Hb::epoch(t);
    if (same) env.count(write ? WriteSameEpoch : ReadSameEpoch);
    return same;
  }

  // Inlined into the hosts, so that a variable decoded for one access stays in registers.
  [[gnu::always_inline]] static void read(const Thread& t, Var& x, const Access& a, Env& env) {
    const Epoch now = Hb::epoch(t);
    Hb::meet(x.write, t, env);
    if (x.atomics != nullptr) check(t, x.atomics->writes, env);
    if (!x.reads.map.empty()) {
      env.count(ReadShared);
      x.reads.follow({now, a}, [&](Epoch e) { return Hb::ordered(e, t); }, env);
    } else if (Hb::ordered(x.reads.last.epoch, t)) {
      env.count(ReadExclusive);
      x.reads.last = {now, a};
    } else {
      env.count(ReadShare);
      x.reads.share({now, a}, env);
    }
  }

  [[gnu::always_inline]] static void write(const Thread& t, Var& x, const Access& a, Env& env) {
    const Epoch now = Hb::epoch(t);
    Hb::meet(x.write, t, env);
    env.count(x.reads.map.empty() ? WriteExclusive : WriteShared);
    check(t, x.reads, env);
    if (x.atomics != nullptr) check_atomics(t, x, env);
    x.reads.clear(env);
    x.write = {now, a};
  }

  [[gnu::always_inline]] static void atomic_read(const Thread& t, Var& x, const Access& a, Env& env) {
    Atomics& atomics = atomics_of(x, env);
    if (atomics.reads.has(Hb::epoch(t))) return same_atomic(env);
    env.count(AtomicRead);
    Hb::meet(x.write, t, env);
    add(t, atomics.reads, a, env);
  }

  [[gnu::always_inline]] static void atomic_write(const Thread& t, Var& x, const Access& a, Env& env) {
    Atomics& atomics = atomics_of(x, env);
    if (atomics.writes.has(Hb::epoch(t))) return same_atomic(env);
    env.count(AtomicWrite);
    Hb::meet(x.write, t, env);
    check(t, x.reads, env);
    add(t, atomics.writes, a, env);
  }

  static Var clone(const Var& x, Env& env) {
    Var copy{x.write, x.reads.clone(env), nullptr};
    if (x.atomics != nullptr) {
      atomics_of(copy, env) = {x.atomics->writes.clone(env), x.atomics->reads.clone(env)};
    }
    return copy;
  }
  static void clear(Var& x, Env& env) {
    x.write = {};
    x.reads.clear(env);
    if (x.atomics != nullptr) forget_atomics(x, env);
  }

  // For hosts that keep variables in a form of their own.
  static Atomics& atomics_of(Var& x, Env& env) {
    if (x.atomics == nullptr) x.atomics = new (env.allocate(sizeof(Atomics))) Atomics{};
    return *x.atomics;
  }

  static void forget_atomics(Var& x, Env& env) {
    x.atomics->writes.clear(env);
    x.atomics->reads.clear(env);
    env.deallocate(x.atomics, sizeof(Atomics));
    x.atomics = nullptr;
  }

 protected:
  template <class AnyMarks>
  [[gnu::always_inline]] static void check(const Thread& t, const AnyMarks& earlier, Env& env) {
    earlier.for_each([&](const Mark<Env>& m) { Hb::meet(m, t, env); });
  }

  // It has its mark, and no plain write came since: that would have dropped it.
  static void same_atomic(Env& env) {
    env.count(AtomicSameEpoch);
    env.settle();
  }

  static void add(const Thread& t, Marks& marks, const Access& a, Env& env) {
    const Mark<Env> m{Hb::epoch(t), a};
    if (!marks.map.empty()) {
      marks.map.put(m, env);
    } else if (Hb::ordered(marks.last.epoch, t)) {
      marks.last = m;
    } else {
      marks.share(m, env);
    }
  }

  [[gnu::noinline]] static void check_atomics(const Thread& t, Var& x, Env& env) {
    check(t, x.atomics->writes, env);
    check(t, x.atomics->reads, env);
    forget_atomics(x, env);
  }
};

template <class Env>
struct FastTrack : FastTrackRules<Env, HappensBefore<Env>> {
  static constexpr const EngineInfo& kInfo = kFastTrackInfo;
};

}  // namespace pf
