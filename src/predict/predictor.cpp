#include "predict/predictor.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <ranges>
#include <utility>

#include "predict/cadical_solver.h"
#include "predict/cp.h"
#include "predict/needed.h"
#include "predict/osr.h"
#include "predict/syncp.h"
#include "predict/z3_solver.h"

namespace pf::predict {
namespace {

// One window.
class Investigation {
 public:
  Investigation(const Window& window, const Settings& settings)
      : window_(window), settings_(settings), heeds_missing_(settings.method == Method::Rdit),
        cells_(window, heeds_missing_), model_(window, cells_), must_(model_, Relation::Must, heeds_missing_),
        hb_(model_, Relation::Hb, heeds_missing_), replayer_(window, cells_, heeds_missing_) {
    if (settings.method == Method::Cp) cp_ = std::make_unique<CausallyPrecedes>(model_, hb_, heeds_missing_);
    if (settings.raw) return;
    kept_ = std::make_unique<Order>(model_, Relation::Kept, heeds_missing_);
    cuts_ = std::make_unique<Cuts>(model_);
    needed_ = std::make_unique<Needed>(model_, must_, *cuts_);
    preserving_ = std::make_unique<SyncPreserving>(model_, *kept_, *cuts_);
  }

  WindowResult run() {
    result_.number = window_.number;
    result_.tally.windows = 1;
    for (const Event& e : window_.events) result_.tally.missing += e.op == Op::MissingBegin ? 1 : 0;
    accesses_.resize(cells_.count());
    looked_at_.assign(model_.size(), kNone);
    for (Index b = 0; b < model_.size(); ++b) {
      const Op op = model_.event(b).op;
      if (may_race(op)) look_before(b);
      for (Cell cell = cells_.of(b).begin; cell < cells_.of(b).end; ++cell) {
        if (op == Op::Alloc || op == Op::Free) accesses_[cell].clear();  // what came before does not conflict any more
        if (may_race(op))
          (writes(op) ? accesses_[cell][model_.thread(b)].writes : accesses_[cell][model_.thread(b)].reads)
              .push_back(b);
      }
    }
    result_.tally.rounds = solver_ == nullptr ? 0 : solver_->rounds();
    return std::move(result_);
  }

 private:
  struct Accesses {
    std::vector<Index> reads, writes;
  };
  // To find a witness for one pair of sites and an object.
  struct Attempts {
    bool has_race = false;
    uint64_t made = 0;  // by the solver
  };

  void look_before(Index b) {
    for (Cell cell = cells_.of(b).begin; cell < cells_.of(b).end; ++cell)
      for (const auto& [thread, accesses] : accesses_[cell]) {
        if (thread == model_.thread(b)) continue;
        look_at(accesses.writes, b);
        if (writes(model_.event(b).op)) look_at(accesses.reads, b);
      }
  }

  // From the latest back to those that are before b in any case.
  void look_at(const std::vector<Index>& earlier, Index b) {
    for (const Index a : std::views::reverse(earlier)) {
      if (settings_.raw ? is_related(a, b) : must_.enables(a, b)) return;
      if (looked_at_[a] == b || !model_.conflict(a, b)) continue;
      looked_at_[a] = b;
      judge(a, b);
    }
  }

  void judge(Index a, Index b) {
    Tally& tally = result_.tally;
    if (is_related(a, b) || (!settings_.raw && model_.exclude_each_other(a, b))) {
      ++tally.ordered;
      return;
    }
    const RaceRecord race = record(a, b);
    Attempts& attempts = attempts_[race.pair()];
    if (attempts.has_race) {
      ++tally.known;
      return;
    }
    const std::optional<Witness> witness = settings_.raw ? Witness{} : find_witness(a, b, attempts);
    if (!witness) return;
    attempts.has_race = true;
    add(race, a, b, *witness);
  }

  struct Witness {
    Schedule schedule{};
    FoundBy by = FoundBy::KeptOrder;
  };

  std::optional<Witness> find_witness(Index a, Index b, Attempts& attempts) {
    const bool has_solver = settings_.method != Method::SyncP && settings_.method != Method::Osr;
    if (has_solver && settings_.solver == SolverKind::Z3) return solve(a, b, attempts, enabling(a, b));
    if (auto found = find_without_solver(a, b)) return found;
    if (has_solver) return solve(a, b, attempts, needed_->by(a, b));
    ++result_.tally.refuted;
    return {};
  }

  std::optional<Witness> find_without_solver(Index a, Index b) {
    Tally& tally = result_.tally;
    if (const auto found = preserving_->find(a, b); found && is_witness(*found, a, b)) {
      ++tally.preserving;
      return Witness{*found, FoundBy::KeptOrder};
    }
    if (settings_.method == Method::SyncP) return {};
    if (const auto found = reversal().find(a, b); found && is_witness(*found, a, b)) {
      ++tally.reversed;
      return Witness{*found, FoundBy::SyncReversal};
    }
    return {};
  }

  std::optional<Witness> solve(Index a, Index b, Attempts& attempts, const std::optional<Clock>& needed) {
    Tally& tally = result_.tally;
    if (!needed || solver().refutes(a, b, *needed)) {
      ++tally.refuted;
      return {};
    }
    if (attempts.made == settings_.tries) {
      ++tally.unknown;
      return {};
    }
    ++attempts.made;
    switch (solver().ask(a, b, *needed)) {
      case Solver::Answer::Race: ++tally.solved; return Witness{solver().witness(), FoundBy::Solver};
      case Solver::Answer::NoRace: ++tally.refuted; return {};
      case Solver::Answer::Unknown: ++tally.unknown; return {};
    }
    return {};
  }

  // It is not only where the trace itself is no run, as when a release has no acquire.
  bool is_witness(const Schedule& schedule, Index a, Index b) const {
    return replayer_.faults(schedule).empty() && replayer_.leads_to(schedule, a, b);
  }

  // What must have come before either is next in its thread.
  Clock enabling(Index a, Index b) const {
    Clock both(must_.enabling(a).begin(), must_.enabling(a).end());
    join(both, must_.enabling(b));
    return both;
  }

  Solver& solver() {
    const auto make = settings_.solver == SolverKind::Z3 ? z3_solver : cadical_solver;
    if (solver_ == nullptr) solver_ = make(model_, must_, replayer_, settings_.limits);
    return *solver_;
  }

  const SyncReversal& reversal() {
    if (reversal_ == nullptr) reversal_ = std::make_unique<SyncReversal>(model_, *kept_, *cuts_);
    return *reversal_;
  }

  // By the relation that the method is about.
  bool is_related(Index a, Index b) const {
    if (settings_.method == Method::Hb) return hb_.before(a, b);
    return settings_.method == Method::Cp && cp_->before(a, b);
  }

  Verdict verdict(Index a, Index b) const { return hb_.before(a, b) ? Verdict::Predicted : Verdict::Real; }

  RaceRecord record(Index a, Index b) const {
    const auto access = [&](Index i) {
      const Event& e = model_.event(i);
      const uint64_t size = std::min<uint64_t>(range_of(e).end - e.target, kMaxAccessSize);
      return RaceAccess{e.thread, e.site, kNoLocks, e.op, static_cast<uint32_t>(size)};
    };
    RaceRecord race;
    race.first = access(a);
    race.second = access(b);
    race.memory = window_.memory[b];
    race.memory.address = std::max(model_.event(a).target, model_.event(b).target);
    if (race.memory.address >= kAbstract && race.memory.kind == RaceMemory::Kind::Plain)
      race.memory.object = race.memory.address;
    race.verdict = verdict(a, b);
    return race;
  }

  void add(const RaceRecord& race, Index a, Index b, const Witness& found) {
    const auto locks = [&](Index i) {
      std::vector<HeldLock> held;
      for (const Window::Held& h : model_.held(i))
        held.push_back({h.lock, h.writes > 0 ? LockMode::Write : LockMode::Read});
      return held;
    };
    Prediction p{race, locks(a), locks(b), number(a), number(b), {}, found.by};
    if (!settings_.raw) {
      for (const Index i : found.schedule) p.witness.push_back(step(i));
      p.witness.push_back(step(a));
      p.witness.push_back(step(b));
    }
    result_.races.push_back(std::move(p));
  }
  uint64_t number(Index i) const { return window_.first + i + 1; }
  WitnessStep step(Index i) const {
    const Event& e = model_.event(i);
    return {e.thread, e.site, number(i), e.op, e.target};
  }

  const Window& window_;
  const Settings& settings_;
  bool heeds_missing_;
  Cells cells_;
  Model model_;
  Order must_, hb_;
  Replayer replayer_;
  std::unique_ptr<CausallyPrecedes> cp_;
  std::unique_ptr<Order> kept_;
  std::unique_ptr<Cuts> cuts_;
  std::unique_ptr<Needed> needed_;
  std::unique_ptr<SyncPreserving> preserving_;
  std::unique_ptr<SyncReversal> reversal_;            // once a pair needs it
  std::unique_ptr<Solver> solver_;                    // the same
  std::vector<std::map<Thread, Accesses>> accesses_;  // by cell, since its memory was last given away
  std::vector<Index> looked_at_;                      // of each access: by which later one
  std::map<RacePair, Attempts> attempts_;
  WindowResult result_;
};

// Of this thread.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Tally& Tally::operator+=(const Tally& o) {
  windows += o.windows;
  ordered += o.ordered;
  known += o.known;
  preserving += o.preserving;
  reversed += o.reversed;
  solved += o.solved;
  refuted += o.refuted;
  unknown += o.unknown;
  rounds += o.rounds;
  missing += o.missing;
  return *this;
}

WindowResult predict(const Window& window, const Settings& settings) { return Investigation(window, settings).run(); }

Predictor::Predictor(const Settings& settings)
    : settings_(settings), cutter_(settings.window, [this](Window&& w) { submit(std::move(w)); }) {
  if (settings_.jobs == 0) settings_.jobs = std::max(1U, std::thread::hardware_concurrency());
}

Predictor::~Predictor() {
  {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void Predictor::process(std::span<const Event> batch) { cutter_.process(batch); }

// Waits while as many windows as there are workers have not been taken: memory does not grow with the trace.
void Predictor::submit(Window&& window) {
  if (window.number % settings_.shards != settings_.shard) return;
  if (settings_.jobs == 1) {
    keep(predict(window, settings_));
    return;
  }
  std::unique_lock lock(mutex_);
  if (workers_.size() < settings_.jobs) workers_.emplace_back([this] { work(); });
  changed_.wait(lock, [&] { return waiting_.size() < settings_.jobs; });
  waiting_.push_back(std::move(window));
  changed_.notify_all();
}

// A race is shown by its first window, or the first that has it as a real one; what the others had to show would be most of the memory.
// Whoever merges shards decides for himself.
void Predictor::keep(WindowResult&& result) {
  for (Prediction& p : result.races) {
    if (settings_.shards > 1) break;
    uint64_t& first = first_.try_emplace({p.record.pair(), p.record.verdict}, result.number).first->second;
    if (first < result.number) p.witness = {};
    first = std::min(first, result.number);
  }
  results_.push_back(std::move(result));
}

void Predictor::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !waiting_.empty() || is_finished_; });
    if (waiting_.empty()) return;
    const Window window = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    const double start = processor_seconds();
    WindowResult result = predict(window, settings_);
    result.processor_seconds = processor_seconds() - start;
    lock.lock();
    keep(std::move(result));
    changed_.notify_all();
  }
}

const std::vector<WindowResult>& Predictor::finish() {
  if (std::exchange(is_complete_, true)) return results_;
  cutter_.finish();
  {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : workers_) t.join();
  workers_.clear();
  std::ranges::sort(results_, {}, &WindowResult::number);
  return results_;
}

}  // namespace pf::predict
