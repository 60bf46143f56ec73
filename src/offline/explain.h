// Which lock hid a potential race: the release and the acquire that put its two accesses in order in this run.
//
// A second look at the trace, once the races are known, so that detectors remember nothing for it. Two accesses a, b of a
// potential race are ordered by full happens-before and not by weak: every path from a to b has a lock edge, and
// after the last one it is weak. So the edge to name is one whose acquire taught its thread of a, and precedes b by
// weak happens-before. An acquire teaches its thread of a when it raises the thread's clock for a's slot to a's tick, so all of
// them are seen by comparing a thread's clock before and after each event: O(slots) an event, and O(threads) for each race.
//
// Online the same question is answered without a second look, from what threads remember (runtime/lessons.h).
#pragma once
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/hybrid.h"
#include "filter/filter.h"
#include "offline/env.h"
#include "offline/stage.h"
#include "offline/sync.h"

namespace pf {

class Explainer {
 public:
  // Fills in `hidden_by` of those races that are potential. The chain is the one that found them, since its filters decide when a
  // thread is first heard of, and with it the slots that epochs are about.
  Explainer(const Chain& chain, std::span<FoundRace> races);

  // Before the first event.
  Status start(const StableNames& names);
  bool has_questions() const { return !questions_.empty(); }
  // The events of the trace, as the chain was given them.
  void process(std::span<const Event> batch);

 private:
  using Env = OfflineEnv;
  using Order = Hybrid<Env>;
  using Sync = SyncState<Order, Env>;
  using Clock = VectorClock<Env>;

  // A thread that came to know of the first access by a lock.
  struct Lesson {
    Env::Epoch weak;  // of the thread then
    HiddenBy by;
  };
  struct Question {
    FoundRace* race;
    std::vector<Lesson> lessons;
    std::map<ThreadId, uint64_t> knows_since;  // the event by which a thread came to know of the first access
  };
  // The latest release of each thread and mode.
  struct Release {
    LockStep step;
    Env::Epoch epoch;
  };

  void step(const Event& e);
  void apply(const Event& e);
  void note_release(const Event& e, Env::Epoch epoch);
  void note_lessons(const Event& e, ThreadId learner, const Clock& before);
  void learn(Question& q, const Event& e, const Sync::HostThread& learner);
  const LockStep* release_before(const Question& q, const Event& acquire);
  static bool knew(const Question& q, const Release& r);

  std::vector<std::unique_ptr<FilterStage>> filters_;
  std::map<Slot, std::multimap<Env::Epoch::Clock, Question>> questions_;  // by the epoch of the first access
  std::unordered_map<uint64_t, std::vector<Release>> releases_;           // by lock
  Env env_;
  Sync sync_{env_};
  uint64_t number_ = 0;  // of the event being processed, from 1
};

}  // namespace pf
