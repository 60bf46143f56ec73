// All correct reorderings of a window that show a pair, as one formula of integer difference logic, for Z3 (seed 004 §4.4.4, with
// prefixes).
//
// Guarantee: the pair is a race, with a witness that was replayed, exactly if some correct reordering has it (docs/happens-before.md); or
// a limit was reached, and the answer is unknown. It is the plain way to say it, everything at once and for each pair anew, and takes
// no hint from the quick ways of finding a witness: what it says of a trace is a check of what all the others say.
//
//   order      each event has a whole number, its place, and a Boolean, "it is in the prefix"
//   must       in the prefix only with what Must puts before it, and that comes before it: program order, fork and join, barriers,
//              calls without instrumentation
//   reads      some write of a value that it may see is in and before it, and no other write of the prefix is between the two
//   locks      of two sections that collide and have both begun, one has ended before the other begins
//   wakes      some notify since the wait
//   takes      each has a post or a token for itself
//   lives      alloc keeps its place among the accesses of its memory, and free among the allocs
//   the pair   what has to be before the two is in, they are not
//
// Cost: cubic in the worst case, in the part of the window that the pair may need: what must be before it, what may give a value, a notify or a
// post to that, the ends of its sections, and so on. Milliseconds in a window of 500 events, tens of seconds in one of 10,000.
#pragma once
#include "predict/solver.h"

namespace pf::predict {

std::unique_ptr<Solver> z3_solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits);

}  // namespace pf::predict
