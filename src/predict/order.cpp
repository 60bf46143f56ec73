#include "predict/order.h"

#include <algorithm>

#include "predict/missing.h"

namespace pf::predict {
namespace {

// Beyond so many a wake or a take is taken to come from what it came from in the trace: fewer reorderings, none of them wrong.
constexpr size_t kMaxCandidates = 64;
constexpr size_t kMaxMatches = 4096;  // of takes with their sources

}  // namespace

void join(Clock& to, std::span<const uint32_t> from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

std::vector<Index> notify_candidates(const Model& model, Index wake) {
  const Event& e = model.event(wake);
  const Index wait = model.previous(wake);
  std::vector<Index> all, own;
  for (Index i = 0; i < model.size(); ++i) {
    if (model.event(i).op != Op::Notify || model.event(i).target != e.target || model.event(i).thread == e.thread)
      continue;
    all.push_back(i);
    if (i < wake && (wait == kNone || i > wait)) own.push_back(i);
  }
  return all.size() <= kMaxCandidates || own.empty() ? all : std::vector<Index>{own.back()};
}

std::vector<Index> writer_candidates(const Model& model, Index read, Cell cell) {
  const Cells& cells = model.cells();
  if (!cells.by_value(read, cell)) return {cells.seen(read, cell)};
  std::vector<Index> found;
  if (cells.accepts(read, cell, kNone)) found.push_back(kNone);
  for (const Index w : cells.writers(cell)) {
    const bool comes_later = model.thread(w) == model.thread(read) && w >= read;
    if (!comes_later && cells.accepts(read, cell, w)) found.push_back(w);
  }
  return found;
}

bool Semaphore::keeps_order() const { return tokens < takes.size() && sources() * takes.size() > kMaxMatches; }

std::map<uint64_t, Semaphore> semaphores(const Model& model) {
  std::map<uint64_t, Semaphore> found;
  for (Index i = 0; i < model.size(); ++i) {
    const Event& e = model.event(i);
    if (e.op == Op::SemPost) found[e.target].posts.push_back(i);
    if (e.op == Op::SemWait) found[e.target].takes.push_back(i);
  }
  for (auto& [id, semaphore] : found)
    if (const auto carried = model.window().tokens.find(id); carried != model.window().tokens.end())
      semaphore.tokens = carried->second;
  return found;
}

// One pass in the order of the trace.
class Order::Builder {
 public:
  Builder(Order& order, Relation relation, bool heed_missing, const Order* hb = nullptr,
          const LockEdges* edges = nullptr)
      : order_(order), model_(order.model_), relation_(relation), heeds_missing_(heed_missing), hb_(hb), edges_(edges),
        calls_(order.model_), fences_(model_.threads(), kNone), relaxed_(model_.threads()) {
    order_.up_to_.reserve(size_t{model_.size()} * model_.threads());
    order_.enabling_.reserve(order_.up_to_.capacity());
    if (relation != Relation::Must) return;
    for (const auto& [id, semaphore] : semaphores(model_))
      if (semaphore.keeps_order()) ordered_.insert(id);
  }

  void run() {
    for (Index i = 0; i < model_.size(); ++i) {
      const Event& e = model_.event(i);
      const Thread t = model_.thread(i);
      current_ = i;
      clock_.assign(model_.threads(), 0);
      if (model_.previous(i) != kNone) join(clock_, order_.up_to(model_.previous(i)));
      join_event(model_.fork_of(t));
      if (heeds_missing_) calls_.join_own(t, clock_);
      if (heeds_missing_) calls_.join_reaching(e, clock_);
      append(order_.enabling_);
      needs(i, e);
      if (hb_ == nullptr) clock_[t] = model_.position(i) + 1;
      append(order_.up_to_);
      gives(i, e);
      if (heeds_missing_) calls_.ran(t, e, all_before(i));
    }
  }

 private:
  bool orders_hb() const { return relation_ >= Relation::Weak; }

  // What an event hands on to those that it is an edge to: itself and all before it; by rule (c) of CP, by happens-before.
  std::span<const uint32_t> all_before(Index i) const { return hb_ != nullptr ? hb_->up_to(i) : order_.up_to(i); }

  void append(std::vector<uint32_t>& rows) { rows.insert(rows.end(), clock_.begin(), clock_.end()); }
  // One that comes later, as the fork of a thread that has acted already, is of a trace that is no run.
  void join_event(Index before) {
    if (before != kNone && before < current_) join(clock_, all_before(before));
  }
  // What threads have given to an object, for others to take; their own comes after it by program order, which is no part of CP.
  using Given = std::map<Thread, Clock>;
  void give(Given& to, Index i) { join(to[model_.thread(i)], all_before(i)); }
  void take(const Given& from, Thread own) {
    for (const auto& [giver, clock] : from)
      if (giver != own) join(clock_, clock);
  }
  static void give_all(Given& to, const Given& from) {
    for (const auto& [giver, clock] : from) join(to[giver], clock);
  }
  void join_all(const std::vector<Index>& before) {
    for (const Index b : before) join_event(b);
  }

  // What must have come before an event runs.
  void needs(Index i, const Event& e) {
    switch (e.op) {
      case Op::Read: return reads(i);
      case Op::AtomicLoad:
      case Op::AtomicRmw: return orders_hb() ? reads_atomically(i, e) : reads(i);
      case Op::Acquire: join(clock_, read_released_[e.target]); [[fallthrough]];
      case Op::ReadAcquire:
        join(clock_, released_[e.target]);
        if (edges_ != nullptr) join_all((*edges_)[i]);
        return;
      case Op::Join: return joins(e);
      case Op::BarrierLeave: return take(entered_[{e.target, model_.window().rounds[i]}], model_.thread(i));
      case Op::Wake: return wakes(i);
      case Op::SemWait: return takes(i, e);
      case Op::Fence:
        if (orders_hb() && acquires(e.order)) take(relaxed_[model_.thread(i)], model_.thread(i));
        return;
      default: return;
    }
  }

  // What others may need of it later.
  void gives(Index i, const Event& e) {
    switch (e.op) {
      // Of CP too, but then with no more than what is before the release by CP.
      case Op::Release:
        if (relation_ >= Relation::Hb) join(released_[e.target], clock_);
        return;
      case Op::ReadRelease:
        if (relation_ >= Relation::Hb) join(read_released_[e.target], clock_);
        return;
      case Op::BarrierEnter:
        give(entered_[{e.target, model_.window().rounds[i]}], i);
        give(entered_[{e.target, Window::kUnknownRound}], i);
        return;
      case Op::Notify: notifies_[e.target].push_back(i); return;
      case Op::SemPost: return give(posted_[e.target], i);
      case Op::SemWait: return give(taken_[e.target], i);
      case Op::AtomicStore:
      case Op::AtomicRmw: return stores_atomically(i, e);
      case Op::Fence:
        if (releases(e.order)) fences_[model_.thread(i)] = i;
        return;
      case Op::Alloc:
      case Op::Free: {
        const Range range = range_of(e);
        atomics_.erase(atomics_.lower_bound(range.begin), atomics_.lower_bound(range.end));
        return;
      }
      default: return;
    }
  }

  void reads(Index i) {
    if (orders_hb()) return;
    for (Cell cell = model_.cells().of(i).begin; cell < model_.cells().of(i).end; ++cell) {
      if (relation_ == Relation::Kept) {
        join_event(model_.cells().seen(i, cell));
        continue;
      }
      const std::vector<Index> writers = writer_candidates(model_, i, cell);
      if (writers.size() == 1 && (writers.front() == kNone || writers.front() < i)) join_event(writers.front());
    }
  }

  void joins(const Event& e) {
    const Thread child = model_.find(static_cast<ThreadId>(e.target));
    if (child == Model::kNoThread) return;
    join_event(model_.events_of(child).back());
    join_event(model_.fork_of(child));
  }

  void wakes(Index i) {
    const Window::Notice needed = model_.window().notices[i];
    if (needed == Window::Notice::None) return;
    if (relation_ == Relation::Must && needed == Window::Notice::One) {
      const std::vector<Index> from = notify_candidates(model_, i);
      if (from.size() == 1 && from.front() < i) join_event(from.front());
      return;
    }
    // By happens-before, a wake without its wait comes from nobody.
    if (orders_hb() && needed == Window::Notice::All && !heeds_missing_) return;
    const Index wait = needed == Window::Notice::One ? model_.previous(i) : kNone;
    for (const Index n : notifies_[model_.event(i).target])
      if (wait == kNone || n > wait) join_event(n);
  }

  // With all the posts that came before it in the trace, and no take that came after it, a take finds what it found there. So it is
  // with too many of them, and where a semaphore may have been used unseen, nobody knows how often.
  bool keeps_order(uint64_t semaphore) const {
    return (heeds_missing_ && model_.window().after_missing) || ordered_.contains(semaphore);
  }
  void takes(Index i, const Event& e) {
    const bool keeps = keeps_order(e.target);
    if (relation_ != Relation::Must || keeps) take(posted_[e.target], model_.thread(i));
    if (keeps) take(taken_[e.target], model_.thread(i));
  }

  // --- atomics and fences ---

  void reads_atomically(Index i, const Event& e) {
    const auto released = atomics_.find(e.target);
    if (released == atomics_.end()) return;
    if (acquires(e.order)) {
      take(released->second, model_.thread(i));
    } else {
      give_all(relaxed_[model_.thread(i)], released->second);
    }
  }
  void stores_atomically(Index i, const Event& e) {
    Given& released = atomics_[e.target];
    if (e.op == Op::AtomicStore) released.clear();  // ends the release sequence; an rmw continues it
    if (releases(e.order)) give(released, i);
    if (const Index fence = fences_[model_.thread(i)]; fence != kNone) give(released, fence);
  }

  Order& order_;
  const Model& model_;
  Relation relation_;
  bool heeds_missing_;
  const Order* hb_;         // of CP
  const LockEdges* edges_;  // of CP
  MissingCalls calls_;
  Index current_ = 0;  // the event being looked at
  Clock clock_;        // its
  std::map<uint64_t, Clock> released_, read_released_;
  std::map<uint64_t, Given> posted_, taken_, atomics_;
  std::set<uint64_t> ordered_;  // semaphores that have too many uses
  std::map<uint64_t, std::vector<Index>> notifies_;
  std::map<std::pair<uint64_t, uint32_t>, Given> entered_;
  std::vector<Index> fences_;   // by thread: its latest release fence
  std::vector<Given> relaxed_;  // by thread: what its relaxed reads saw
};

Order::Order(const Model& model, Relation relation, bool heed_missing) : model_(model) {
  Builder(*this, relation, heed_missing).run();
}

Order::Order(const Model& model, const Order& hb, const LockEdges& edges, bool heed_missing) : model_(model) {
  Builder(*this, Relation::Cp, heed_missing, &hb, &edges).run();
}

}  // namespace pf::predict
