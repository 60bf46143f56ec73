// Replays a schedule of a window's events, step by step, and says what is wrong with it: the rules of correct reorderings
// (docs/happens-before.md) as a machine that runs, with locks that are held and memory that has a last writer. It knows
// nothing of how a schedule was found; no predicted race is reported that it does not accept.
#pragma once
#include "predict/cells.h"

namespace pf::predict {

using Schedule = std::vector<Index>;

struct Fault {
  enum class Kind : uint8_t { Lock, Value, Lifetime, Order };  // Order: all that no schedule of ours should get wrong
  Kind kind = Kind::Order;
  Index event = kNone;
  // Lock: since when the other thread holds it, for writing if a reader collides with it; kNone: since before the window.
  // Value: the last writer. Lifetime: the event that came too early.
  Index other = kNone;
  Cell cell = 0;      // of a value
  ThreadId holder{};  // of a lock
};

class Replayer {
 public:
  Replayer(const Window& window, const Cells& cells, bool heed_missing);

  // Every fault, as if each step had been possible; none: a correct reordering.
  std::vector<Fault> faults(const Schedule& schedule) const;
  // After the schedule both events are next in their threads, which have been forked if they are ever forked.
  bool leads_to(const Schedule& schedule, Index a, Index b) const;

 private:
  class Machine;
  // A call without instrumentation: its own events, and the others that touch memory it may touch; both in order.
  struct Missing {
    std::vector<Index> own, others;
  };
  void find_missing();
  bool keeps_missing(const Schedule& schedule) const;

  const Window& window_;
  const Cells& cells_;
  std::vector<Index> previous_;                                         // in its thread
  std::map<ThreadId, Index> forks_;                                     // of a thread, in the window
  std::map<ThreadId, Index> last_;                                      // event of a thread
  std::map<std::pair<uint64_t, uint32_t>, std::vector<Index>> enters_;  // of a barrier and round
  std::map<uint64_t, std::vector<Index>> wakes_;                        // of a condition, that need a notify
  std::vector<Missing> missing_;
};

}  // namespace pf::predict
