// SHB, schedulable happens-before: happens-before, and a read comes after the write it saw.
// Guarantee: reports exactly the accesses that race with an earlier one under this order, and each reported pair can be
// scheduled next to each other: every race is real, not only the first of each variable.
// Source: Mathur, Kini, Viswanathan, "What happens after the first race?", OOPSLA 2018. A race check leaves out
// the order that the access itself is about to take from the write it sees.
// Cost: Generic's, and one clock per written variable (shared with its writer until that thread learns more).
#pragma once
#include "detect/generic.h"

namespace pf {

inline constexpr EngineInfo kShbInfo = {
    .name = "shb",
    .kind = StageKind::Detector,
    .summary = "schedulable happens-before: sound for every race, not only the first",
    .guarantee = "reports exactly the schedulable-happens-before races; every pair can really happen",
    .source = "Mathur, Kini, Viswanathan 2018",
    .options = {},
    .rules = kGenericRules,
};

template <class Env>
struct Shb : Generic<Env> {
  using Full = Generic<Env>;
  using typename Full::Thread;
  static constexpr const EngineInfo& kInfo = kShbInfo;

  struct Var : Full::Var {
    Published<Env> last_write;
  };

  static void reads_from(Thread& t, const Var& x, Env& env) { Full::learn(t, x.last_write, env); }
  static void publish(const Thread& t, Var& x, Env& env) { x.last_write.assign(Full::snapshot(t), env); }
  static void published(Thread& t, Env& env) { Full::tick(t, env); }

  static Var clone(const Var& x, Env& env) {
    Var copy{Full::clone(x, env), {}};
    copy.last_write.assign(x.last_write, env);
    return copy;
  }
  static void clear(Var& x, Env& env) {
    Full::clear(x, env);
    x.last_write.clear(env);
  }
};

}  // namespace pf
