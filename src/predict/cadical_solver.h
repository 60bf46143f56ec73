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
// clauses that hold in every correct reordering.
#pragma once
#include "predict/solver.h"

namespace pf::predict {

std::unique_ptr<Solver> cadical_solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits);

}  // namespace pf::predict
