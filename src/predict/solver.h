// All correct reorderings of a window as clauses, for CaDiCaL (seed 004 §4.4.4, with the encoding of docs/prediction.md).
//
// Of each event that matters: a Boolean, "it is in the prefix that runs". Of two events whose order matters: a Boolean for either
// order. In the prefix, an event needs what Must says before it, a read needs a write it may see, a wake a notify, a take
// a post. A pair (a, b) is asked for by assumptions: their predecessors are in, they are not; so all pairs of a window share one
// solver and what it has learned.
//
// Most of it is left out at first: that critical sections exclude each other, that no other write comes between a write and its
// read, that blocks keep their lives, that the chosen orders have no cycle. What the solver proposes is put in an order, as close to the
// trace's as it allows, and replayed; what the replayer complains of, or the cycle, is added; and so on until the replayer accepts
// or nothing is left to propose. Nor is an event encoded before it is needed or proposed: a pair pays for its own part of the window. So no schedule counts that the replayer refused, and what the solver refuses is refused by
// clauses that hold in every correct reordering. (Integer places and difference logic, all at once, took Z3 seconds for each
// question in a window of 10,000 events; clauses alone some hundred milliseconds, most of it to read its models.)
#pragma once
#include <memory>
#include <optional>

#include "predict/order.h"
#include "predict/replay.h"

namespace pf::predict {

struct Limits {
  uint64_t steps = 0;         // schedules proposed and conflicts, for each pair; the same on every machine
  uint64_t milliseconds = 0;  // for each pair, in case the steps take long
};

class Solver {
 public:
  Solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits);
  ~Solver();

  enum class Answer : uint8_t { Race, NoRace, Unknown };
  // `needed`: what every reordering that shows them runs (needed.h).
  Answer ask(Index a, Index b, const Clock& needed);
  // Whether what refuted another pair refutes this one.
  bool refutes(Index a, Index b, const Clock& needed) const;
  const Schedule& witness() const;  // after Answer::Race
  uint64_t rounds() const;          // schedules that were proposed so far

 private:
  class Encoding;
  const Model& model_;
  const Order& must_;
  const Replayer& replayer_;
  Limits limits_;
  std::unique_ptr<Encoding> encoding_;  // once a pair was asked for
};

}  // namespace pf::predict
