#include "predict/cadical_solver.h"

#include <cadical.hpp>

#include <algorithm>
#include <chrono>
#include <set>

#include "predict/graph.h"

namespace pf::predict {
namespace {

using Literal = int;  // a variable, or its negation below zero
using Clause = std::vector<Literal>;

constexpr int kSchedule = 10, kNoSchedule = 20;  // what CaDiCaL answers

// What a question may cost: steps are schedules that are proposed and conflicts on the way, which are the same on every machine.
class Budget final : public CaDiCaL::Learner, public CaDiCaL::Terminator {
 public:
  void start(const Limits& limits) {
    left_ = limits.steps;
    deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits.milliseconds);
  }
  void pay() { left_ -= left_ > 0 ? 1 : 0; }
  bool is_spent() { return left_ == 0 || terminate(); }
  int conflicts() const { return static_cast<int>(std::min<uint64_t>(left_, std::numeric_limits<int>::max())); }

  bool learning(int) override {  // a clause, from a conflict
    pay();
    return false;
  }
  void learn(int) override {}
  bool terminate() override { return std::chrono::steady_clock::now() >= deadline_; }

 private:
  uint64_t left_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

class CadicalSolver final : public Solver {
 public:
  CadicalSolver(const Model& model, const Order& must, const Replayer& replayer, Limits limits)
      : model_(model), must_(must), replayer_(replayer), limits_(limits) {
    solver_.set("quiet", 1);
    solver_.set("phase",
                0);  // what need not run stays out, and what need not change places keeps the order of the trace
    solver_.connect_learner(&budget_);
    solver_.connect_terminator(&budget_);
    add({kTrue});
    find_sections();
    semaphores_ = semaphores(model);
    find_shared_cells();
    choose_events();
  }

  Answer ask(Index a, Index b, const Clock& needed) override;
  bool refutes(Index a, Index b, const Clock& needed) const override;

 private:
  // Which section of a thread's lock begins with an event.
  struct SectionKey {
    Thread thread;
    uint64_t lock;
    Index begin;
    friend auto operator<=>(const SectionKey&, const SectionKey&) = default;
  };

  void find_sections();
  void choose_events();
  bool matters(Index i) const;
  void find_shared_cells();
  void encode_up_to(Index i);
  void encode(Index i);
  void encode_read(Index i);
  void encode_wake(Index i);
  void encode_semaphore(uint64_t id);
  void match_tokens(const Semaphore& semaphore);
  void need(Index i, Index before_it);

  bool forbid(const Fault& fault);
  bool forbid_overlap(const Fault& fault);
  void exclude(const Section& x, const Section& y);
  void add_end(const Section& section, Index before_it, Clause& ways);
  void forbid_write(const Fault& fault);

  void assume(Index a, Index b, const Clock& needed);
  void assume(Index i, bool is_in);
  void remember_refutation();
  // The order of what the solver proposes: as in the trace, wherever it has not decided otherwise.
  struct Edge {
    Index from, to;
  };
  bool encode_proposed();
  std::vector<bool> proposed_prefix();
  std::vector<Edge> proposed_edges(const std::vector<bool>& prefix);
  Graph graph_of(const std::vector<bool>& prefix, const std::vector<Edge>& edges) const;
  void forbid_cycles(const std::vector<Edge>& edges, const Graph& graph, const std::vector<bool>& left);

  Literal in(Index i);
  Literal before(Index a, Index b);
  Literal fresh() { return ++last_variable_; }
  Literal all_of(const Clause& literals);
  void add(const Clause& clause);
  bool is_true(Literal variable) { return solver_.val(variable) > 0; }  // as proposed
  // The last event that matters before i in its thread.
  Index last_before(Index i) const { return last_before_[i]; }

  const Model& model_;
  const Order& must_;
  const Replayer& replayer_;
  Limits limits_;
  static constexpr Literal kTrue = 1;
  Literal last_variable_ = kTrue;
  Budget budget_;
  CaDiCaL::Solver solver_;
  std::vector<bool> shared_;                     // by cell
  std::vector<std::vector<Index>> that_matter_;  // by thread: its events that matter
  std::vector<bool> matters_;                    // by event
  std::vector<Literal> in_;                      // by event: its variable, 0 if it has none yet
  std::vector<Index> named_;                     // events that have a variable and are not encoded yet
  std::vector<bool> is_encoded_;                 // by event; of a thread, the first ones that matter
  std::vector<uint32_t> encoded_;                // by thread: how many of those that matter
  std::vector<Index> last_before_;               // of every event
  std::vector<std::vector<Index>> hard_;         // by event: what Must puts right before it
  // Order that is the solver's to decide, of an earlier and a later event of the trace: do they change places?
  std::map<std::pair<Index, Index>, Literal> reversed_;
  struct Assumption {
    Index event;
    bool is_in;
  };
  std::vector<Assumption> assumed_;                   // for the question at hand
  std::vector<std::vector<Assumption>> refutations_;  // that no schedule has together
  std::map<uint64_t, Semaphore> semaphores_;          // not yet encoded
  std::map<SectionKey, const Section*> writing_, holding_;
  struct Choice {
    Index writer;
    Literal chosen;
  };
  std::map<std::pair<Index, Cell>, std::vector<Choice>> choices_;  // of reads that may see several writers
  std::set<std::tuple<int, Index, Index, Cell>> forbidden_;
};

void CadicalSolver::find_sections() {
  for (const auto& [lock, use] : model_.locks()) {
    for (const Section& s : use.writing) writing_[{s.thread, s.lock, s.begin}] = &s;
    for (const Section& s : use.holding) holding_[{s.thread, s.lock, s.begin}] = &s;
  }
}

// --- which events matter ---

// Touched by several threads, and changed by one of them.
void CadicalSolver::find_shared_cells() {
  const Cells& cells = model_.cells();
  shared_.resize(cells.count());
  std::vector<bool> changed(cells.count());
  std::vector<Thread> owner(cells.count(), Model::kNoThread);
  for (Index i = 0; i < model_.size(); ++i)
    for (Cell cell = cells.of(i).begin; cell < cells.of(i).end; ++cell) {
      if (owner[cell] == Model::kNoThread) owner[cell] = model_.thread(i);
      if (owner[cell] != model_.thread(i)) shared_[cell] = true;
      if (changes_memory(model_.event(i).op)) changed[cell] = true;
    }
  for (Cell cell = 0; cell < cells.count(); ++cell) shared_[cell] = shared_[cell] && changed[cell];
}

bool CadicalSolver::matters(Index i) const {
  const Op op = model_.event(i).op;
  if (touches_memory(op)) {
    const Cells::Span span = model_.cells().of(i);
    return std::any_of(shared_.begin() + span.begin, shared_.begin() + span.end, [](bool s) { return s; });
  }
  return op != Op::Call && op != Op::Return && op != Op::Fence && op != Op::SamplingOn && op != Op::SamplingOff;
}

void CadicalSolver::choose_events() {
  // What needs others, or is needed by them, counts in any case.
  std::vector<bool> counts(model_.size());
  for (Index i = 0; i < model_.size(); ++i)
    for (Thread t = 0; t < model_.threads(); ++t) {
      if (t == model_.thread(i)) continue;
      const uint32_t known = model_.previous(i) == kNone ? 0 : must_.up_to(model_.previous(i))[t];
      for (const uint32_t count : {must_.up_to(i)[t], must_.enabling(i)[t]})
        if (count > known) counts[i] = counts[model_.events_of(t)[count - 1]] = true;
    }
  hard_.resize(model_.size());
  in_.resize(model_.size());
  last_before_.assign(model_.size(), kNone);
  matters_.resize(model_.size());
  is_encoded_.resize(model_.size());
  that_matter_.resize(model_.threads());
  encoded_.resize(model_.threads());
  for (Index i = 0; i < model_.size(); ++i) {
    std::vector<Index>& own = that_matter_[model_.thread(i)];
    if (!own.empty()) last_before_[i] = own.back();
    matters_[i] = counts[i] || matters(i) || model_.position(i) == 0;
    if (matters_[i]) own.push_back(i);
  }
}

// --- variables ---

Literal CadicalSolver::in(Index i) {
  if (in_[i] == 0) {
    in_[i] = fresh();
    if (!is_encoded_[i]) named_.push_back(i);
  }
  return in_[i];
}

// True or false where Must decides; else a variable for the two. That these make an order is seen to by forbid_cycles().
Literal CadicalSolver::before(Index a, Index b) {
  if (must_.before(a, b)) return kTrue;
  if (must_.before(b, a)) return -kTrue;
  const auto [known, is_new] = reversed_.try_emplace(std::minmax(a, b));
  if (is_new) known->second = fresh();
  return a < b ? -known->second : known->second;
}

// True only if all of them are.
Literal CadicalSolver::all_of(const Clause& literals) {
  const Literal all = fresh();
  for (const Literal l : literals) add({-all, l});
  return all;
}

void CadicalSolver::add(const Clause& clause) {
  for (const Literal l : clause) solver_.add(l);
  solver_.add(0);
}

// --- what every reordering keeps ---

// In the prefix only after the other.
void CadicalSolver::need(Index i, Index before_it) {
  add({-in(i), in(before_it)});
  add({-in(i), before(before_it, i)});
}

// An event and all that must come before it. What it needs beside, of several things one, is encoded when it is proposed: most of a
// window never is.
void CadicalSolver::encode_up_to(Index i) {
  std::vector<Index> open{i};
  while (!open.empty()) {
    const Index at = open.back();
    open.pop_back();
    if (is_encoded_[at]) continue;
    is_encoded_[at] = true;
    ++encoded_[model_.thread(at)];
    encode(at);
    std::ranges::copy(hard_[at], std::back_inserter(open));
  }
}

void CadicalSolver::encode(Index i) {
  const Index previous = last_before(i);
  const auto follow = [&](Index before_it) {
    need(i, before_it);
    hard_[i].push_back(before_it);
  };
  if (previous != kNone) follow(previous);
  for (Thread t = 0; t < model_.threads(); ++t) {
    if (t == model_.thread(i)) continue;
    const uint32_t count = must_.up_to(i)[t];
    const uint32_t known = previous == kNone ? 0 : must_.up_to(previous)[t];
    if (count > known) follow(model_.events_of(t)[count - 1]);
  }
  if (reads_memory(model_.event(i).op)) encode_read(i);
  if (model_.window().notices[i] == Window::Notice::One) encode_wake(i);
  if (model_.event(i).op == Op::SemWait) encode_semaphore(model_.event(i).target);
}

void CadicalSolver::encode_read(Index i) {
  for (Cell cell = model_.cells().of(i).begin; cell < model_.cells().of(i).end; ++cell) {
    if (!shared_[cell]) continue;
    const std::vector<Index> writers = writer_candidates(model_, i, cell);
    if (writers.size() == 1) continue;  // Must has it
    Clause any{-in(i)};
    auto& choices = choices_[{i, cell}];
    for (const Index w : writers) {
      const Literal chosen = w == kNone ? fresh() : all_of({in(w), before(w, i)});
      choices.push_back({w, chosen});
      any.push_back(chosen);
    }
    add(any);
  }
}

void CadicalSolver::encode_wake(Index i) {
  const Index wait = model_.previous(i);
  Clause any{-in(i)};
  for (const Index n : notify_candidates(model_, i)) {
    Clause comes{in(n), before(n, i)};
    if (wait != kNone) comes.push_back(before(wait, n));
    any.push_back(all_of(comes));
  }
  add(any);
}

void CadicalSolver::encode_semaphore(uint64_t id) {
  const auto use = semaphores_.extract(id);
  if (use.empty() || !use.mapped().has_choice()) return;  // it is encoded, or Must has it
  match_tokens(use.mapped());
}

// Each take has a post, or a token that was there, for itself.
void CadicalSolver::match_tokens(const Semaphore& semaphore) {
  std::vector<std::vector<Literal>> by_source(semaphore.sources());
  for (const Index take : semaphore.takes) {
    Clause any{-in(take)};
    for (size_t source = 0; source < by_source.size(); ++source) {
      const Index post = semaphore.post(source);
      const Literal matched = post != kNone ? all_of({in(post), before(post, take)}) : fresh();
      any.push_back(matched);
      by_source[source].push_back(matched);
    }
    add(any);
  }
  for (const auto& takers : by_source)
    for (size_t i = 0; i < takers.size(); ++i)
      for (size_t j = 0; j < i; ++j) add({-takers[i], -takers[j]});
}

// --- what a replay complained of ---

// False: nothing new can be learned from it.
bool CadicalSolver::forbid(const Fault& f) {
  if (f.kind == Fault::Kind::Order) return false;
  if (f.kind == Fault::Kind::Lock) return forbid_overlap(f);
  const Cell cell = f.kind == Fault::Kind::Value ? f.cell : 0;
  if (!forbidden_.insert({static_cast<int>(f.kind), f.event, f.other, cell}).second) return false;
  if (f.kind == Fault::Kind::Value) {
    if (f.other == kNone) return false;
    forbid_write(f);
  } else {
    add({-in(f.event), -in(f.other), before(f.event, f.other)});
  }
  return true;
}

bool CadicalSolver::forbid_overlap(const Fault& f) {
  const bool writes = model_.event(f.event).op == Op::Acquire;
  const uint64_t lock = model_.event(f.event).target;
  const auto& mine = writes ? writing_ : holding_;
  const auto& theirs = writes ? holding_ : writing_;
  const auto x = mine.find({model_.thread(f.event), lock, f.event});
  const auto y = theirs.find({model_.find(f.holder), lock, f.other});
  const bool is_held_before = f.other == kNone;
  if ((x == mine.end() && !is_held_before) || y == theirs.end()) return false;  // follows from another fault
  if (!forbidden_.insert({static_cast<int>(f.kind), f.event, f.other, model_.find(f.holder)}).second) return false;
  if (is_held_before) {
    Clause ways{-in(f.event)};
    add_end(*y->second, f.event, ways);
    add(ways);
  } else {
    exclude(*x->second, *y->second);
  }
  return true;
}

// If both begin, one ends before the other begins.
void CadicalSolver::exclude(const Section& x, const Section& y) {
  Clause ways{-in(x.begin), -in(y.begin)};
  add_end(x, y.begin, ways);
  add_end(y, x.begin, ways);
  add(ways);
}

void CadicalSolver::add_end(const Section& section, Index before_it, Clause& ways) {
  if (section.end != kNone) ways.push_back(all_of({in(section.end), before(section.end, before_it)}));
}

// The write `other` does not come between the read and the write that it sees.
void CadicalSolver::forbid_write(const Fault& f) {
  const Index read = f.event, write = f.other;
  const auto excludes = [&](Index seen, Literal if_chosen) {
    Clause ways{-in(read), -if_chosen, -in(write), before(read, write)};
    if (seen != kNone) ways.push_back(before(write, seen));
    add(ways);
  };
  if (const auto choices = choices_.find({read, f.cell}); choices != choices_.end()) {
    for (const Choice& c : choices->second) excludes(c.writer, c.chosen);
  } else {
    excludes(writer_candidates(model_, read, f.cell).front(), kTrue);
  }
}

// --- asking ---

// What is proposed and was not encoded: then it is, and the proposal counts for nothing. False: there is no such event.
bool CadicalSolver::encode_proposed() {
  std::vector<Index> proposed;
  for (const Index i : named_)
    if (!is_encoded_[i] && is_true(in(i))) proposed.push_back(i);
  for (const Index i : proposed) encode_up_to(i);
  std::erase_if(named_, [&](Index i) { return is_encoded_[i]; });
  return !proposed.empty();
}

// A thread's events in the prefix are its first ones. Those that do not matter run after the one before them.
std::vector<bool> CadicalSolver::proposed_prefix() {
  std::vector<bool> prefix(model_.size());
  for (Thread t = 0; t < model_.threads(); ++t) {
    const std::span encoded = std::span(that_matter_[t]).first(encoded_[t]);
    const auto runs = [&](Index i) { return is_true(in_[i]); };
    const auto end = static_cast<size_t>(std::ranges::partition_point(encoded, runs) - encoded.begin());
    if (end == 0) continue;
    const Index past = end < that_matter_[t].size() ? that_matter_[t][end] : model_.size();
    for (const Index i : model_.events_of(t)) {
      if (i >= past) break;
      prefix[i] = true;
    }
  }
  return prefix;
}

std::vector<CadicalSolver::Edge> CadicalSolver::proposed_edges(const std::vector<bool>& prefix) {
  std::vector<Edge> edges;
  for (const auto& [pair, is_reversed] : reversed_) {
    if (!prefix[pair.first] || !prefix[pair.second]) continue;
    const bool reversed = is_true(is_reversed);
    edges.push_back(reversed ? Edge{pair.second, pair.first} : Edge{pair.first, pair.second});
  }
  return edges;
}

Graph CadicalSolver::graph_of(const std::vector<bool>& prefix, const std::vector<Edge>& edges) const {
  Graph graph(model_.size());
  for (Index i = 0; i < model_.size(); ++i) {
    if (!prefix[i]) continue;
    if (model_.previous(i) != kNone) graph.add(model_.previous(i), i);
    for (const Index before_it : hard_[i])
      if (before_it != last_before(i)) graph.add(before_it, i);
  }
  for (const Edge& e : edges) graph.add(e.from, e.to, 1);
  return graph;
}

// Of the events that are left, since none of them can come first: the ways round with the fewest choices of the solver. Every one has an
// edge against the order of the trace.
void CadicalSolver::forbid_cycles(const std::vector<Edge>& edges, const Graph& graph, const std::vector<bool>& left) {
  constexpr size_t kMaxCycles = 32;  // at a time
  const auto is_chosen = [&](Index from, Index to) { return reversed_.contains(std::minmax(from, to)); };
  std::set<std::pair<Index, Index>> covered;
  size_t found = 0;
  for (const Edge& e : edges) {
    if (found == kMaxCycles) return;
    if (e.from < e.to || !left[e.from] || !left[e.to] || covered.contains({e.from, e.to})) continue;
    std::vector<Index> way = graph.way(e.to, e.from, left);
    if (way.empty()) continue;
    way.push_back(e.to);
    Clause ways;
    for (size_t i = 0; i + 1 < way.size(); ++i) {
      if (!is_chosen(way[i], way[i + 1])) continue;
      covered.emplace(way[i], way[i + 1]);
      ways.push_back(before(way[i + 1], way[i]));
    }
    add(ways);
    ++found;
  }
}

Solver::Answer CadicalSolver::ask(Index a, Index b, const Clock& needed) {
  for (budget_.start(limits_);;) {
    if (budget_.is_spent()) return Answer::Unknown;
    assume(a, b, needed);
    solver_.limit("conflicts", budget_.conflicts());
    const int result = solver_.solve();
    if (result == kNoSchedule) {
      remember_refutation();
      return Answer::NoRace;
    }
    if (result != kSchedule) return Answer::Unknown;
    if (encode_proposed()) continue;
    budget_.pay();
    ++rounds_;
    const std::vector<bool> prefix = proposed_prefix();
    const std::vector<Edge> edges = proposed_edges(prefix);
    const Graph graph = graph_of(prefix, edges);
    Schedule schedule = graph.linearize(prefix);
    std::vector<bool> stuck = prefix;
    for (const Index i : schedule) stuck[i] = false;
    if (std::ranges::find(stuck, true) != stuck.end()) {
      forbid_cycles(edges, graph, graph.cycles(stuck));
      continue;
    }
    const std::vector<Fault> faults = replayer_.faults(schedule);
    if (faults.empty()) {
      witness_ = std::move(schedule);
      return replayer_.leads_to(witness_, a, b) ? Answer::Race : Answer::Unknown;
    }
    bool learned = false;
    for (const Fault& f : faults) learned |= forbid(f);
    if (!learned) return Answer::Unknown;
  }
}

// All that must have come before the two are next is in the prefix, they are not.
void CadicalSolver::assume(Index a, Index b, const Clock& needed) {
  std::vector<Index> last;  // of each thread, that matters
  for (Thread t = 0; t < model_.threads(); ++t) {
    if (needed[t] == 0) continue;
    const Index i = model_.events_of(t)[needed[t] - 1];
    last.push_back(matters_[i] ? i : last_before(i));
    encode_up_to(last.back());
  }
  assumed_.clear();
  for (const Index i : last) assume(i, true);
  assume(a, false);
  assume(b, false);
  // Neither is what comes after them.
  const auto follows = [&](Index i, Index access) { return model_.thread(i) == model_.thread(access) && i > access; };
  for (const Index i : named_)
    if ((follows(i, a) || follows(i, b)) && !is_encoded_[i]) assume(i, false);
}

void CadicalSolver::assume(Index i, bool is_in) {
  assumed_.push_back({i, is_in});
  solver_.assume(is_in ? in(i) : -in(i));
}

// What it took to refute a pair refutes others: most pairs of two places differ in little else than when.
void CadicalSolver::remember_refutation() {
  std::vector<Assumption> core;
  for (const Assumption& a : assumed_)
    if (solver_.failed(a.is_in ? in_[a.event] : -in_[a.event])) core.push_back(a);
  refutations_.push_back(std::move(core));
}

bool CadicalSolver::refutes(Index a, Index b, const Clock& needed) const {
  const auto holds = [&](const Assumption& x) {
    const Thread t = model_.thread(x.event);
    if (x.is_in) return needed[t] > model_.position(x.event);
    return (t == model_.thread(a) && x.event >= a) || (t == model_.thread(b) && x.event >= b);
  };
  return std::ranges::any_of(refutations_, [&](const auto& core) { return std::ranges::all_of(core, holds); });
}

}  // namespace

std::unique_ptr<Solver> cadical_solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits) {
  return std::make_unique<CadicalSolver>(model, must, replayer, limits);
}

}  // namespace pf::predict
