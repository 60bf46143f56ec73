// The order of calls without instrumentation (BarrierPairs; seed 004 §4). Such a call may have touched any of its reach D at any
// moment between its begin and its end, so all that came before on D it may have seen, and all that comes after on D may
// have seen it: an event that follows needs them all in the prefix, before it.
//
// The paper orders pairs of calls, and a call with each event on D (algorithm 5). That is not enough while calls overlap in time: z
// on D1, seen unseen in the first call, which writes what a second one reads, which writes what y reads; z and y are on no
// common D. Here knowledge flows as it may have flowed: a call under way learns what every event on its D
// knows, and what calls under way with an overlapping D learn; an event on D, and every event of the call's own thread, knows
// what the call has learned. So everything unseen can be put back at its place in the trace's order.
#pragma once
#include "predict/order.h"

namespace pf::predict {

class MissingCalls {
 public:
  explicit MissingCalls(const Model& model);

  // What a thread's own calls under way have learned: its next event comes after it.
  void join_own(Thread t, Clock& clock) const;
  // What calls that reach the event's operand have learned.
  void join_reaching(const Event& e, Clock& clock) const;
  // The event has run; `clock` is the event and all before it.
  void ran(Thread t, const Event& e, std::span<const uint32_t> clock);

 private:
  struct Call {
    Thread thread = 0;
    bool under_way = true;
    std::vector<Range> reach{};
    Clock learned{};
  };
  // An operand that some event has had.
  struct Touched {
    Range range;
    Clock clock;
  };
  static bool has_range(const Event& e);
  static Range operand(const Event& e);
  static bool reaches(const Call& call, const Range& range);
  void learn(Call& call, std::span<const uint32_t> clock);
  void reach_more(Call& call, const Range& range);

  const Model& model_;
  std::vector<Call> calls_;                                   // of the window, and those under way before it
  std::map<std::pair<uint64_t, uint64_t>, Touched> touched_;  // by range
};

}  // namespace pf::predict
