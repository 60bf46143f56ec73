#include "predict/z3_solver.h"

#include <z3++.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace pf::predict {
namespace {

constexpr bool is_lifetime(Op op) { return op == Op::Alloc || op == Op::Free; }

// What all questions about a window have in common.
struct Facts {
  Facts(const Model& m, const Order& o) : model(m), must(o), semaphores(predict::semaphores(m)), needs(m.size()) {
    for (Index i = 0; i < model.size(); ++i) find_needs(i);
  }

  const Model& model;
  const Order& must;
  const std::map<uint64_t, Semaphore> semaphores;
  std::vector<std::vector<Index>> needs;  // by event: what Must puts right before it

 private:
  void find_needs(Index i) {
    const Index previous = model.previous(i);
    for (Thread t = 0; t < model.threads(); ++t) {
      const uint32_t count = t == model.thread(i) ? model.position(i) : must.up_to(i)[t];
      const uint32_t known = previous == kNone || t == model.thread(i) ? 0 : must.up_to(previous)[t];
      if (count > known) needs[i].push_back(model.events_of(t)[count - 1]);
    }
  }
};

// Whether a pair is a race.
class Formula {
 public:
  Formula(z3::context& context, const Facts& facts, Index a, Index b, const Clock& needed)
      : facts_(facts), model_(facts.model), must_(facts.must), first_(a), second_(b), context_(context),
        solver_(context, z3::solver::simple()), no_(context.bool_val(false)), has_(model_.size()) {
    choose_events(needed);
    make_variables();
    for (const Index i : events_) encode(i);
    for (const auto& [lock, use] : model_.locks()) encode_lock(use);
    for (const auto& [id, semaphore] : facts_.semaphores)
      if (semaphore.has_choice()) encode_semaphore(semaphore);
    for (Thread t = 0; t < model_.threads(); ++t)
      if (needed[t] > 0) solver_.add(in(model_.events_of(t)[needed[t] - 1]));
  }

  z3::solver& solver() { return solver_; }
  Schedule schedule() const;  // as the solver's model has it

 private:
  void choose_events(const Clock& needed);
  void choose_helpers(Index i, std::vector<Index>& open) const;
  void make_variables();
  void encode(Index i);
  void encode_must(Index i);
  void encode_reads(Index i);
  z3::expr sees(Index read, Cell cell, Index writer) const;
  void encode_wake(Index i);
  void encode_life(Index i);
  void encode_acquire(Index i);
  void encode_lock(const LockUse& use);
  void encode_semaphore(const Semaphore& semaphore);

  // The two are not in the prefix, nor is what must come after them.
  bool may_run(Index i) const {
    return i != first_ && i != second_ && !must_.before(first_, i) && !must_.before(second_, i);
  }
  const std::vector<Section>& colliding(Index acquire) const {
    const LockUse& use = model_.locks().at(model_.event(acquire).target);
    return model_.event(acquire).op == Op::Acquire ? use.holding : use.writing;
  }

  z3::expr in(Index i) const { return has_[i] ? in_[number_[i]] : no_; }
  z3::expr before(Index a, Index b) const { return at_[number_[a]] < at_[number_[b]]; }
  z3::expr comes_before(Index a, Index b) const { return has_[a] ? in(a) && before(a, b) : no_; }
  z3::expr has_ended(const Section& s, Index before_it) const {
    return s.end == kNone ? no_ : comes_before(s.end, before_it);
  }
  void require(Index i, const z3::expr& what) { solver_.add(z3::implies(in(i), what)); }

  const Facts& facts_;
  const Model& model_;
  const Order& must_;
  Index first_, second_;
  z3::context& context_;
  z3::solver solver_;
  z3::expr no_;
  std::vector<bool> has_;         // by event: it may be of use
  std::vector<Index> events_;     // those
  std::vector<uint32_t> number_;  // of an event, among those
  std::vector<z3::expr> in_, at_;
};

// --- the part of the window that the pair may need ---

void Formula::choose_events(const Clock& needed) {
  std::vector<Index> open;
  for (Thread t = 0; t < model_.threads(); ++t)
    if (needed[t] > 0) open.push_back(model_.events_of(t)[needed[t] - 1]);
  while (!open.empty()) {
    const Index i = open.back();
    open.pop_back();
    if (i == kNone || has_[i] || !may_run(i)) continue;
    has_[i] = true;
    std::ranges::copy(facts_.needs[i], std::back_inserter(open));
    choose_helpers(i, open);
  }
}

// Whatever may make it possible.
void Formula::choose_helpers(Index i, std::vector<Index>& open) const {
  const Event& e = model_.event(i);
  const auto add = [&](const std::vector<Index>& events) { std::ranges::copy(events, std::back_inserter(open)); };
  if (reads_memory(e.op))
    for (Cell cell = model_.cells().of(i).begin; cell < model_.cells().of(i).end; ++cell)
      add(writer_candidates(model_, i, cell));
  if (model_.window().notices[i] == Window::Notice::One) add(notify_candidates(model_, i));
  if (e.op == Op::SemWait) add(facts_.semaphores.at(e.target).posts);
  if (e.op != Op::Acquire && e.op != Op::ReadAcquire) return;
  const LockUse& use = model_.locks().at(e.target);
  for (const auto* sections : {&use.writing, &use.holding})
    for (const Section& s : *sections)
      if (s.begin == i || s.begin == kNone) open.push_back(s.end);
}

void Formula::make_variables() {
  number_.resize(model_.size());
  for (Index i = 0; i < model_.size(); ++i) {
    if (!has_[i]) continue;
    number_[i] = static_cast<uint32_t>(events_.size());
    events_.push_back(i);
    in_.push_back(context_.bool_const(("in" + std::to_string(i)).c_str()));
    at_.push_back(context_.int_const(("at" + std::to_string(i)).c_str()));
  }
}

// --- what every reordering keeps ---

void Formula::encode(Index i) {
  const Op op = model_.event(i).op;
  encode_must(i);
  if (reads_memory(op)) encode_reads(i);
  if (model_.window().notices[i] == Window::Notice::One) encode_wake(i);
  if (is_lifetime(op)) encode_life(i);
  if (op == Op::Acquire || op == Op::ReadAcquire) encode_acquire(i);
}

// Its place is higher even if it does not run: what does not run may stand last, in the order of the trace.
void Formula::encode_must(Index i) {
  for (const Index before_it : facts_.needs[i]) {
    require(i, in(before_it));
    if (has_[before_it]) solver_.add(before(before_it, i));
  }
}

void Formula::encode_reads(Index i) {
  for (Cell cell = model_.cells().of(i).begin; cell < model_.cells().of(i).end; ++cell) {
    z3::expr_vector ways(context_);
    for (const Index w : writer_candidates(model_, i, cell)) ways.push_back(sees(i, cell, w));
    require(i, z3::mk_or(ways));
  }
}

// The write, or what was there before the window, is the last that the read can see. What Must decides is left out.
z3::expr Formula::sees(Index read, Cell cell, Index writer) const {
  if (writer != kNone && !has_[writer]) return no_;
  z3::expr_vector all(context_);
  if (writer != kNone) all.push_back(comes_before(writer, read));
  for (const Index other : model_.cells().writers(cell)) {
    if (other == writer || other == read || !has_[other] || must_.before(read, other)) continue;
    if (writer != kNone && must_.before(other, writer)) continue;
    const bool follows = writer == kNone || must_.before(writer, other);
    if (follows && must_.before(other, read)) return no_;
    z3::expr is_away = !in(other) || before(read, other);
    if (!follows) is_away = is_away || before(other, writer);
    all.push_back(is_away);
  }
  return z3::mk_and(all);
}

void Formula::encode_wake(Index i) {
  const Index wait = model_.previous(i);
  z3::expr_vector ways(context_);
  for (const Index n : notify_candidates(model_, i)) {
    if (!has_[n]) continue;
    const z3::expr comes = comes_before(n, i);
    ways.push_back(wait == kNone ? comes : comes && before(wait, n));
  }
  require(i, z3::mk_or(ways));
}

// Blocks live and die in the order of the trace.
void Formula::encode_life(Index i) {
  const Cells& cells = model_.cells();
  for (const Index other : events_) {
    const Op op = model_.event(other).op;
    const bool keeps_place = model_.event(i).op == Op::Alloc || is_lifetime(op);
    if (other == i || !touches_memory(op) || !keeps_place) continue;
    const Cells::Span common = cells.common(i, other);
    const auto [earlier, later] = std::minmax(i, other);
    if (common.begin < common.end && !must_.before(earlier, later))
      solver_.add(!in(earlier) || !in(later) || before(earlier, later));
  }
}

// Whoever has held the lock since before the window has let go of it.
void Formula::encode_acquire(Index i) {
  for (const Section& s : colliding(i))
    if (s.begin == kNone && s.thread != model_.thread(i)) require(i, has_ended(s, i));
}

void Formula::encode_lock(const LockUse& use) {
  const auto begins = [&](const Section& s) { return s.begin != kNone && has_[s.begin]; };
  for (const Section& x : use.writing)
    for (const Section& y : use.holding)
      if (x.thread != y.thread && begins(x) && begins(y))
        solver_.add(!in(x.begin) || !in(y.begin) || has_ended(x, y.begin) || has_ended(y, x.begin));
}

void Formula::encode_semaphore(const Semaphore& semaphore) {
  std::vector<std::vector<z3::expr>> takers(semaphore.sources());
  for (const Index take : semaphore.takes) {
    if (!has_[take]) continue;
    z3::expr_vector ways(context_);
    for (size_t source = 0; source < takers.size(); ++source) {
      const std::string name = "take" + std::to_string(take) + "from" + std::to_string(source);
      const z3::expr takes = context_.bool_const(name.c_str());
      const Index post = semaphore.post(source);
      if (post != kNone) solver_.add(z3::implies(takes, comes_before(post, take)));
      ways.push_back(takes);
      takers[source].push_back(takes);
    }
    require(take, z3::mk_or(ways));
  }
  for (const std::vector<z3::expr>& of_one : takers)
    for (size_t i = 0; i < of_one.size(); ++i)
      for (size_t j = 0; j < i; ++j) solver_.add(!of_one[i] || !of_one[j]);
}

Schedule Formula::schedule() const {
  const z3::model found = solver_.get_model();
  std::vector<std::pair<int64_t, Index>> steps;
  for (const Index i : events_)
    if (found.eval(in(i), true).is_true()) steps.emplace_back(found.eval(at_[number_[i]], true).get_numeral_int64(), i);
  std::ranges::sort(steps);
  Schedule schedule;
  for (const auto& [place, i] : steps) schedule.push_back(i);
  return schedule;
}

// --- asking ---

class Z3Solver final : public Solver {
 public:
  Z3Solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits)
      : facts_(model, must), replayer_(replayer), limits_(limits) {}

  Answer ask(Index a, Index b, const Clock& needed) override {
    const auto start = std::chrono::steady_clock::now();
    Formula formula(context_, facts_, a, b, needed);
    if (!configure(formula.solver(), std::chrono::steady_clock::now() - start)) return Answer::Unknown;
    switch (formula.solver().check()) {
      case z3::unsat: return Answer::NoRace;
      case z3::unknown: return Answer::Unknown;
      case z3::sat: break;
    }
    ++rounds_;
    witness_ = formula.schedule();
    // Else the trace itself is no run, as when a thread acts before its fork.
    const bool is_witness = replayer_.faults(witness_).empty() && replayer_.leads_to(witness_, a, b);
    return is_witness ? Answer::Race : Answer::Unknown;
  }

 private:
  constexpr static unsigned kDifferenceLogic = 1;  // by shortest paths

  // False: no time is left.
  bool configure(z3::solver& solver, std::chrono::steady_clock::duration spent) const {
    const auto gone = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(spent).count());
    if (limits_.steps == 0 || gone >= limits_.milliseconds) return false;
    const auto clip = [](uint64_t n) {
      return static_cast<unsigned>(std::min<uint64_t>(n, std::numeric_limits<int>::max()));
    };
    z3::params params(context_);
    params.set("arith.solver", kDifferenceLogic);
    params.set("max_conflicts", clip(limits_.steps));
    params.set("timeout", clip(limits_.milliseconds - gone));
    params.set("ctrl_c", false);  // it is ours
    solver.set(params);
    return true;
  }

  mutable z3::context context_;
  Facts facts_;
  const Replayer& replayer_;
  Limits limits_;
};

}  // namespace

std::unique_ptr<Solver> z3_solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits) {
  return std::make_unique<Z3Solver>(model, must, replayer, limits);
}

}  // namespace pf::predict
