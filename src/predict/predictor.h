// The predictors: which pairs of a window they ask about, and what they make of the answers. One file for all, since they
// differ in nothing else:
//
//   candidates          conflicting pairs that Must does not order and no lock keeps apart
//   hb, cp              of them those that the relation leaves unordered; syncp, mc, rdit: all
//   witness             the first to find one: a sync-preserving reordering; for all but syncp, a sync-reversal; for all but these
//                       two, the solver. With solver=z3 the solver alone
//   replay              every witness, before it is reported
//
// A pair of sites and an object are reported once for each window; a window is a function of its events alone, so the number of threads that
// work, their order and the machines do not change the result.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/engine_info.h"
#include "core/lockset.h"
#include "predict/solver.h"
#include "predict/window.h"

namespace pf::predict {

enum class Method : uint8_t { Hb, Cp, SyncP, Osr, Mc, Rdit };

// Who found a witness, in the order in which they are asked.
enum class FoundBy : uint8_t { KeptOrder, SyncReversal, Solver };
inline constexpr std::string_view kFoundByNames[] = {"kept order", "sync reversal", "solver"};
constexpr std::string_view name(FoundBy by) { return kFoundByNames[static_cast<unsigned>(by)]; }

struct Settings {
  Method method = Method::Mc;
  bool raw = false;  // hb, cp: the relation itself, without witnesses
  uint64_t window = 10'000;
  SolverKind solver = SolverKind::Cadical;  // Z3 decides alone, without the ways that need no solver
  Limits limits{.steps = 100'000, .milliseconds = 60'000};
  uint64_t tries = 64;  // of the solver for one pair of sites and object in a window
  uint64_t jobs = 0;    // 0: one for each core
  // Of n shards, the windows whose number is i modulo n.
  uint64_t shard = 0, shards = 1;
};

struct Prediction {
  RaceRecord record;
  std::vector<HeldLock> first_locks, second_locks;
  uint64_t first_event = 0, second_event = 0;  // their numbers in the trace, from 1
  std::vector<WitnessStep> witness;            // the two accesses last; empty: raw
  FoundBy found_by = FoundBy::KeptOrder;       // the witness
};

// How often each of these was the end of it, for a pair that conflicts.
struct Tally {
  uint64_t windows = 0;
  uint64_t ordered = 0;  // by locks, or by the relation asked for; those that Must orders are not even looked at
  uint64_t known = 0;    // another pair of the same sites and object was a race in this window
  uint64_t preserving = 0, reversed = 0, solved = 0;  // a race, by that kind of witness
  uint64_t refuted = 0;
  uint64_t unknown = 0;  // a limit was reached, or the tries were used up
  uint64_t rounds = 0;   // schedules that the solver proposed
  uint64_t missing = 0;  // calls without instrumentation
  Tally& operator+=(const Tally& other);
};

struct WindowResult {
  uint64_t number = 0;
  std::vector<Prediction> races;
  Tally tally;
  double processor_seconds = 0;  // on a thread of its own
};

WindowResult predict(const Window& window, const Settings& settings);

// Cuts a trace and works on its windows, on several threads.
class Predictor {
 public:
  explicit Predictor(const Settings& settings);
  ~Predictor();
  void process(std::span<const Event> batch);
  // Waits for all windows. The results are by window.
  const std::vector<WindowResult>& finish();
  uint64_t threads() const { return cutter_.threads(); }  // of the trace

 private:
  void submit(Window&& window);
  void work();
  void keep(WindowResult&& result);

  Settings settings_;
  Cutter cutter_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Window> waiting_;
  std::vector<WindowResult> results_;
  std::map<std::pair<RacePair, Verdict>, uint64_t> first_;  // window known to have the race
  bool is_finished_ = false, is_complete_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace pf::predict
