// What decides about a pair of accesses: is there a correct reordering of the window that has them side by side? There are two, and the
// tests hold one against the other: clauses that are added as they are needed (cadical_solver.h, the default), and the formula of
// integer difference logic as one writes it down (z3_solver.h).
#pragma once
#include <memory>

#include "predict/order.h"
#include "predict/replay.h"

namespace pf::predict {

struct Limits {
  uint64_t steps = 0;         // schedules proposed and conflicts, for each pair; the same on every machine
  uint64_t milliseconds = 0;  // for each pair, in case the steps take long
};

class Solver {
 public:
  enum class Answer : uint8_t { Race, NoRace, Unknown };

  Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  virtual ~Solver() = default;

  // `needed`: what every reordering that shows them runs (needed.h), or some of it.
  virtual Answer ask(Index a, Index b, const Clock& needed) = 0;
  // Whether what refuted another pair refutes this one.
  virtual bool refutes(Index /*a*/, Index /*b*/, const Clock& /*needed*/) const { return false; }

  const Schedule& witness() const { return witness_; }  // after Answer::Race; it has been replayed
  uint64_t rounds() const { return rounds_; }           // schedules that were proposed so far

 protected:
  Schedule witness_;
  uint64_t rounds_ = 0;
};

enum class SolverKind : uint8_t { Cadical, Z3 };

}  // namespace pf::predict
