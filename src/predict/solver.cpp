#include "predict/solver.h"

#include <z3++.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <queue>
#include <set>

namespace pf::predict {
namespace {

constexpr size_t kMaxMatches = 4096;  // posts times takes of a semaphore; beyond, they keep the order of the trace

}  // namespace

class Solver::Encoding {
 public:
  Encoding(const Model& model, const Order& must, const Replayer& replayer, Limits limits)
      : model_(model), must_(must), replayer_(replayer), limits_(limits), solver_(context_, "QF_FD"), in_(context_) {
    find_sections();
    find_shared_cells();
    choose_events();
    make_variables();
    for (const Index i : events_) encode(i);
    encode_semaphores();
  }

  Answer ask(Index a, Index b);
  Schedule witness;
  uint64_t rounds = 0;

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
  void make_variables();
  void encode(Index i);
  void encode_read(Index i);
  void encode_wake(Index i);
  void encode_semaphores();
  void match_tokens(const std::vector<Index>& posts, const std::vector<Index>& takes, uint64_t tokens);
  void keep_order(const std::vector<Index>& posts, const std::vector<Index>& takes);
  void need(Index i, Index before_it);

  bool forbid(const Fault& fault);
  bool forbid_overlap(const Fault& fault);
  void exclude(const Section& x, const Section& y);
  void forbid_write(const Fault& fault);

  z3::expr_vector assumptions(Index a, Index b);
  uint64_t steps() const;
  // The order of what the solver proposes: as in the trace, wherever it has not decided otherwise.
  struct Edge {
    Index from, to;
  };
  std::vector<bool> proposed_prefix(const z3::model& found);
  std::vector<Edge> proposed_edges(const z3::model& found, const std::vector<bool>& prefix);
  Schedule linearize(const std::vector<bool>& prefix, const std::vector<Edge>& edges) const;
  void forbid_cycles(const std::vector<Edge>& edges);
  z3::expr in(Index i) { return in_[static_cast<int>(number_[i])]; }
  z3::expr before(Index a, Index b);
  z3::expr fresh() { return context_.bool_const(("s" + std::to_string(fresh_++)).c_str()); }
  // The last event that matters before i in its thread.
  Index last_before(Index i) const { return last_before_[i]; }

  const Model& model_;
  const Order& must_;
  const Replayer& replayer_;
  Limits limits_;
  z3::context context_;
  z3::solver solver_;
  z3::expr_vector in_;
  std::vector<bool> shared_;                            // by cell
  std::vector<Index> events_;                           // that matter
  std::vector<uint32_t> number_;                        // of an event among them
  std::vector<Index> last_before_;                      // of every event
  std::vector<std::vector<Index>> hard_;                // by event: what Must puts right before it
  std::map<std::pair<Index, Index>, z3::expr> before_;  // order that is the solver's to decide
  std::map<SectionKey, const Section*> writing_, holding_;
  struct Choice {
    Index writer;
    z3::expr chosen;
  };
  std::map<std::pair<Index, Cell>, std::vector<Choice>> choices_;  // of reads that may see several writers
  std::set<std::tuple<int, Index, Index, Cell>> forbidden_;
  uint64_t fresh_ = 0;
};

void Solver::Encoding::find_sections() {
  for (const auto& [lock, use] : model_.locks()) {
    for (const Section& s : use.writing) writing_[{s.thread, s.lock, s.begin}] = &s;
    for (const Section& s : use.holding) holding_[{s.thread, s.lock, s.begin}] = &s;
  }
}

// --- which events matter ---

// Touched by several threads, and changed by one of them.
void Solver::Encoding::find_shared_cells() {
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

bool Solver::Encoding::matters(Index i) const {
  const Op op = model_.event(i).op;
  if (touches_memory(op)) {
    const Cells::Span span = model_.cells().of(i);
    return std::any_of(shared_.begin() + span.begin, shared_.begin() + span.end, [](bool s) { return s; });
  }
  return op != Op::Call && op != Op::Return && op != Op::Fence && op != Op::SamplingOn && op != Op::SamplingOff;
}

void Solver::Encoding::choose_events() {
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
  number_.assign(model_.size(), kNone);
  last_before_.assign(model_.size(), kNone);
  std::vector<Index> last(model_.threads(), kNone);
  for (Index i = 0; i < model_.size(); ++i) {
    Index& mine = last[model_.thread(i)];
    last_before_[i] = mine;
    if (!counts[i] && !matters(i) && model_.position(i) != 0) continue;
    number_[i] = static_cast<uint32_t>(events_.size());
    events_.push_back(i);
    mine = i;
  }
}

void Solver::Encoding::make_variables() {
  for (const Index i : events_) {
    in_.push_back(context_.bool_const(("i" + std::to_string(i)).c_str()));
  }
}

// --- what every reordering keeps ---

// True or false where Must decides; else a Boolean of its own. That these make an order is seen to by forbid_cycles().
z3::expr Solver::Encoding::before(Index a, Index b) {
  if (must_.before(a, b)) return context_.bool_val(true);
  if (must_.before(b, a)) return context_.bool_val(false);
  const auto known = before_.find({a, b});
  return known != before_.end() ? known->second : before_.emplace(std::pair(a, b), fresh()).first->second;
}

// In the prefix only after the other.
void Solver::Encoding::need(Index i, Index before_it) {
  solver_.add(z3::implies(in(i), in(before_it) && before(before_it, i)));
}

void Solver::Encoding::encode(Index i) {
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
}

void Solver::Encoding::encode_read(Index i) {
  for (Cell cell = model_.cells().of(i).begin; cell < model_.cells().of(i).end; ++cell) {
    if (!shared_[cell]) continue;
    const std::vector<Index> writers = writer_candidates(model_, i, cell);
    if (writers.size() == 1) continue;  // Must has it
    z3::expr_vector any(context_);
    auto& choices = choices_[{i, cell}];
    for (const Index w : writers) {
      const z3::expr chosen = fresh();
      if (w != kNone) solver_.add(z3::implies(chosen, in(w) && before(w, i)));
      choices.push_back({w, chosen});
      any.push_back(chosen);
    }
    solver_.add(z3::implies(in(i), z3::mk_or(any)));
  }
}

void Solver::Encoding::encode_wake(Index i) {
  const Index wait = model_.previous(i);
  z3::expr_vector any(context_);
  for (const Index n : notify_candidates(model_, i)) {
    z3::expr comes = in(n) && before(n, i);
    if (wait != kNone) comes = comes && before(wait, n);
    any.push_back(comes);
  }
  solver_.add(z3::implies(in(i), z3::mk_or(any)));
}

void Solver::Encoding::encode_semaphores() {
  std::map<uint64_t, std::pair<std::vector<Index>, std::vector<Index>>> uses;
  for (const Index i : events_) {
    if (model_.event(i).op == Op::SemPost) uses[model_.event(i).target].first.push_back(i);
    if (model_.event(i).op == Op::SemWait) uses[model_.event(i).target].second.push_back(i);
  }
  for (const auto& [semaphore, use] : uses) {
    const auto& [posts, takes] = use;
    const auto carried = model_.window().tokens.find(semaphore);
    const uint64_t tokens = carried == model_.window().tokens.end() ? 0 : carried->second;
    if (tokens >= takes.size()) continue;
    if ((posts.size() + tokens) * takes.size() <= kMaxMatches) {
      match_tokens(posts, takes, tokens);
    } else {
      keep_order(posts, takes);
    }
  }
}

// Each take has a post, or a token that was there, for itself.
void Solver::Encoding::match_tokens(const std::vector<Index>& posts, const std::vector<Index>& takes, uint64_t tokens) {
  std::vector<std::vector<z3::expr>> by_source(posts.size() + tokens);
  for (const Index take : takes) {
    z3::expr_vector any(context_);
    for (size_t source = 0; source < by_source.size(); ++source) {
      const z3::expr matched = fresh();
      if (source < posts.size()) solver_.add(z3::implies(matched, in(posts[source]) && before(posts[source], take)));
      any.push_back(matched);
      by_source[source].push_back(matched);
    }
    solver_.add(z3::implies(in(take), z3::mk_or(any)));
  }
  for (const auto& takers : by_source)
    for (size_t i = 0; i < takers.size(); ++i)
      for (size_t j = 0; j < i; ++j) solver_.add(!takers[i] || !takers[j]);
}

// With all the posts that came before it in the trace, and no take that came after it, a take finds what it found there.
void Solver::Encoding::keep_order(const std::vector<Index>& posts, const std::vector<Index>& takes) {
  size_t next = 0;
  Index last_post = kNone, last_take = kNone;
  for (const Index take : takes) {
    for (; next < posts.size() && posts[next] < take; last_post = posts[next++])
      if (last_post != kNone) need(posts[next], last_post);
    if (last_post != kNone) need(take, last_post);
    if (last_take != kNone) need(take, last_take);
    last_take = take;
  }
}

// --- what a replay complained of ---

// False: nothing new can be learned from it.
bool Solver::Encoding::forbid(const Fault& f) {
  if (f.kind == Fault::Kind::Order) return false;
  if (f.kind == Fault::Kind::Lock) return forbid_overlap(f);
  const Cell cell = f.kind == Fault::Kind::Value ? f.cell : 0;
  if (!forbidden_.insert({static_cast<int>(f.kind), f.event, f.other, cell}).second) return false;
  if (f.kind == Fault::Kind::Value) {
    if (f.other == kNone) return false;
    forbid_write(f);
  } else {
    solver_.add(!in(f.event) || !in(f.other) || before(f.event, f.other));
  }
  return true;
}

bool Solver::Encoding::forbid_overlap(const Fault& f) {
  const bool writes = model_.event(f.event).op == Op::Acquire;
  const uint64_t lock = model_.event(f.event).target;
  const auto& mine = writes ? writing_ : holding_;
  const auto& theirs = writes ? holding_ : writing_;
  const auto x = mine.find({model_.thread(f.event), lock, f.event});
  const auto y = theirs.find({model_.find(f.holder), lock, f.other});
  const auto held_before = mine.find({model_.thread(f.event), lock, kNone});
  const bool is_twice_held = f.other == kNone && x == mine.end() && held_before != mine.end();
  if (!is_twice_held && (x == mine.end() || y == theirs.end())) return false;  // follows from another fault
  if (!forbidden_.insert({static_cast<int>(f.kind), f.event, f.other, model_.find(f.holder)}).second) return false;
  if (is_twice_held) {  // by two threads since before the window, in a trace that is no run: nobody knows by whom
    solver_.add(!in(f.event));
  } else {
    exclude(*x->second, *y->second);
  }
  return true;
}

// If both begin, one ends before the other begins.
void Solver::Encoding::exclude(const Section& x, const Section& y) {
  z3::expr_vector ways(context_);
  for (const Section* s : {&x, &y})
    if (s->begin != kNone) ways.push_back(!in(s->begin));
  const auto ends_before = [&](const Section& first, const Section& second) {
    if (first.end != kNone && second.begin != kNone) ways.push_back(in(first.end) && before(first.end, second.begin));
  };
  ends_before(x, y);
  ends_before(y, x);
  solver_.add(z3::mk_or(ways));
}

// The write `other` does not come between the read and the write that it sees.
void Solver::Encoding::forbid_write(const Fault& f) {
  const Index read = f.event, write = f.other;
  const auto excludes = [&](Index seen, const z3::expr& if_chosen) {
    z3::expr_vector ways(context_);
    ways.push_back(!in(read));
    ways.push_back(!if_chosen);
    ways.push_back(!in(write));
    ways.push_back(before(read, write));
    if (seen != kNone) ways.push_back(before(write, seen));
    solver_.add(z3::mk_or(ways));
  };
  if (const auto choices = choices_.find({read, f.cell}); choices != choices_.end()) {
    for (const Choice& c : choices->second) excludes(c.writer, c.chosen);
  } else {
    excludes(writer_candidates(model_, read, f.cell).front(), context_.bool_val(true));
  }
}

// --- asking ---

// A thread's events in the prefix are its first ones.
std::vector<bool> Solver::Encoding::proposed_prefix(const z3::model& found) {
  std::vector<bool> prefix(model_.size());
  for (Thread t = 0; t < model_.threads(); ++t) {
    const std::vector<Index>& own = model_.events_of(t);
    std::vector<Index> that_matter;
    std::ranges::copy_if(own, std::back_inserter(that_matter), [&](Index i) { return number_[i] != kNone; });
    const auto end =
        std::ranges::partition_point(that_matter, [&](Index i) { return found.eval(in(i), true).is_true(); });
    for (const Index i : own) {
      if (end != that_matter.end() && i == *end) break;
      prefix[i] = true;
    }
    // Those that do not matter run after the one before them.
    if (end == that_matter.begin()) std::ranges::for_each(own, [&](Index i) { prefix[i] = false; });
  }
  return prefix;
}

std::vector<Solver::Encoding::Edge> Solver::Encoding::proposed_edges(const z3::model& found,
                                                                     const std::vector<bool>& prefix) {
  std::vector<Edge> edges;
  for (const auto& [pair, is_before] : before_)
    if (prefix[pair.first] && prefix[pair.second] && found.eval(is_before, true).is_true())
      edges.push_back({pair.first, pair.second});
  return edges;
}

// Always the first event of the trace that may come next. Shorter than the prefix if the edges have a cycle.
Schedule Solver::Encoding::linearize(const std::vector<bool>& prefix, const std::vector<Edge>& edges) const {
  std::vector<uint32_t> waits_for(model_.size());
  std::vector<std::vector<Index>> followers(model_.size());
  const auto add = [&](Index from, Index to) {
    ++waits_for[to];
    followers[from].push_back(to);
  };
  for (Index i = 0; i < model_.size(); ++i) {
    if (!prefix[i]) continue;
    if (model_.previous(i) != kNone) add(model_.previous(i), i);
    for (const Index before_it : hard_[i])
      if (before_it != last_before(i)) add(before_it, i);
  }
  for (const Edge& e : edges) add(e.from, e.to);
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
  for (Index i = 0; i < model_.size(); ++i)
    if (prefix[i] && waits_for[i] == 0) ready.push(i);
  Schedule schedule;
  while (!ready.empty()) {
    const Index i = ready.top();
    ready.pop();
    schedule.push_back(i);
    for (const Index f : followers[i])
      if (--waits_for[f] == 0) ready.push(f);
  }
  return schedule;
}

// From an edge that the solver chose, by Must, to the next, and so on back to the first: the shortest such ways round.
void Solver::Encoding::forbid_cycles(const std::vector<Edge>& edges) {
  constexpr size_t kMaxCycles = 32;  // at a time
  const auto leads_to = [&](const Edge& e, const Edge& f) { return e.to == f.from || must_.before(e.to, f.from); };
  size_t found = 0;
  std::vector<bool> is_covered(edges.size());
  for (size_t start = 0; start < edges.size() && found < kMaxCycles; ++start) {
    if (is_covered[start]) continue;
    std::vector<size_t> came_from(edges.size(), edges.size());
    std::deque<size_t> open{start};
    size_t last = edges.size();
    while (!open.empty() && last == edges.size()) {
      const size_t at = open.front();
      open.pop_front();
      if (leads_to(edges[at], edges[start])) last = at;
      for (size_t next = 0; next < edges.size() && last == edges.size(); ++next) {
        if (came_from[next] != edges.size() || next == start || !leads_to(edges[at], edges[next])) continue;
        came_from[next] = at;
        open.push_back(next);
      }
    }
    if (last == edges.size()) continue;
    z3::expr_vector ways(context_);
    for (size_t at = last;; at = came_from[at]) {
      is_covered[at] = true;
      ways.push_back(!before_.at({edges[at].from, edges[at].to}));
      if (at == start) break;
    }
    solver_.add(z3::mk_or(ways));
    ++found;
  }
}

Solver::Answer Solver::Encoding::ask(Index a, Index b) {
  const z3::expr_vector asked = assumptions(a, b);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits_.milliseconds);
  const uint64_t last_step = steps() + limits_.steps;
  for (uint64_t now = steps();; now = steps()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || now >= last_step) return Answer::Unknown;
    z3::params limits(context_);
    limits.set("timeout", static_cast<unsigned>(std::min<int64_t>(left.count(), 1 << 30)));
    limits.set("rlimit", static_cast<unsigned>(std::min<uint64_t>(last_step - now, 1U << 31)));
    solver_.set(limits);
    const z3::check_result result = solver_.check(asked);
    if (result == z3::unsat) return Answer::NoRace;
    if (result == z3::unknown) return Answer::Unknown;
    ++rounds;
    const z3::model found = solver_.get_model();
    const std::vector<bool> prefix = proposed_prefix(found);
    const std::vector<Edge> edges = proposed_edges(found, prefix);
    Schedule schedule = linearize(prefix, edges);
    if (std::ranges::count(prefix, true) != static_cast<std::ptrdiff_t>(schedule.size())) {
      forbid_cycles(edges);
      continue;
    }
    const std::vector<Fault> faults = replayer_.faults(schedule);
    if (faults.empty()) {
      witness = std::move(schedule);
      return replayer_.leads_to(witness, a, b) ? Answer::Race : Answer::Unknown;
    }
    bool learned = false;
    for (const Fault& f : faults) learned |= forbid(f);
    if (!learned) return Answer::Unknown;
  }
}

// All that must have come before the two are next is in the prefix, they are not.
z3::expr_vector Solver::Encoding::assumptions(Index a, Index b) {
  z3::expr_vector asked(context_);
  for (const Index i : {a, b}) {
    asked.push_back(!in(i));
    for (Thread t = 0; t < model_.threads(); ++t) {
      const uint32_t count = must_.enabling(i)[t];
      if (count == 0) continue;
      const Index last = t == model_.thread(i) ? last_before(i) : model_.events_of(t)[count - 1];
      asked.push_back(in(last));
    }
  }
  return asked;
}

// That Z3 has taken so far.
uint64_t Solver::Encoding::steps() const {
  const z3::stats stats = solver_.statistics();
  for (unsigned i = 0; i < stats.size(); ++i)
    if (stats.key(i) == "rlimit count") return stats.uint_value(i);
  return 0;
}

Solver::Solver(const Model& model, const Order& must, const Replayer& replayer, Limits limits)
    : model_(model), must_(must), replayer_(replayer), limits_(limits) {}
Solver::~Solver() = default;

// Z3 throws when it has no memory left, for one; then nothing is known.
Solver::Answer Solver::ask(Index a, Index b) {
  try {
    if (encoding_ == nullptr) encoding_ = std::make_unique<Encoding>(model_, must_, replayer_, limits_);
    return encoding_->ask(a, b);
  } catch (const z3::exception&) {
    return Answer::Unknown;
  }
}
const Schedule& Solver::witness() const { return encoding_->witness; }
uint64_t Solver::rounds() const { return encoding_ == nullptr ? 0 : encoding_->rounds; }

}  // namespace pf::predict
