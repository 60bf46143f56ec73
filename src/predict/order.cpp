#include "predict/order.h"

#include <algorithm>

#include "predict/missing.h"

namespace pf::predict {
namespace {

// Beyond so many a wake or a take is taken to come from what it came from in the trace: fewer reorderings, none of them wrong.
constexpr size_t kMaxCandidates = 64;

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
  return all.size() <= kMaxCandidates ? all : std::vector<Index>{own.back()};
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

// One pass in the order of the trace.
class Order::Builder {
 public:
  Builder(Order& order, Relation relation, bool heed_missing, const Order* hb = nullptr,
          const LockEdges* edges = nullptr)
      : order_(order), model_(order.model_), relation_(relation), heeds_missing_(heed_missing), hb_(hb), edges_(edges),
        calls_(order.model_), fences_(model_.threads()), relaxed_(model_.threads()) {
    order_.up_to_.reserve(size_t{model_.size()} * model_.threads());
    order_.enabling_.reserve(order_.up_to_.capacity());
  }

  void run() {
    for (Index i = 0; i < model_.size(); ++i) {
      const Event& e = model_.event(i);
      const Thread t = model_.thread(i);
      clock_.assign(model_.threads(), 0);
      if (model_.previous(i) != kNone) join(clock_, order_.up_to(model_.previous(i)));
      join_event(model_.fork_of(t));
      if (heeds_missing_) calls_.join_own(t, clock_);
      append(order_.enabling_);
      if (heeds_missing_) calls_.join_reaching(e, clock_);
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
  void join_event(Index before) {
    if (before != kNone) join(clock_, all_before(before));
  }
  void join_all(const std::vector<Index>& before) {
    for (const Index b : before) join_event(b);
  }

  // What must have come before an event runs.
  void needs(Index i, const Event& e) {
    switch (e.op) {
      case Op::Read: return reads(i);
      case Op::AtomicLoad:
      case Op::AtomicRmw: return orders_hb() ? reads_atomically(e) : reads(i);
      case Op::Acquire: join(clock_, read_released_[e.target]); [[fallthrough]];
      case Op::ReadAcquire:
        join(clock_, released_[e.target]);
        if (edges_ != nullptr) join_all((*edges_)[i]);
        return;
      case Op::Join: return joins(e);
      case Op::BarrierLeave: return join_all(entered_[{e.target, model_.window().rounds[i]}]);
      case Op::Wake: return wakes(i);
      case Op::SemWait: return takes(e);
      case Op::Fence:
        if (orders_hb() && acquires(e.order)) join(clock_, relaxed_[model_.thread(i)]);
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
      case Op::BarrierEnter: entered_[{e.target, model_.window().rounds[i]}].push_back(i); return;
      case Op::Notify: notifies_[e.target].push_back(i); return;
      case Op::SemPost: join(posted_[e.target], all_before(i)); return;
      case Op::AtomicStore:
      case Op::AtomicRmw: return stores_atomically(i, e);
      case Op::Fence:
        if (releases(e.order)) fences_[model_.thread(i)].assign(all_before(i).begin(), all_before(i).end());
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
    if (!model_.window().needs_notify[i]) return;
    if (relation_ == Relation::Must) {
      const std::vector<Index> from = notify_candidates(model_, i);
      if (from.size() == 1 && from.front() < i) join_event(from.front());
      return;
    }
    const Index wait = model_.previous(i);
    for (const Index n : notifies_[model_.event(i).target])
      if (wait == kNone || n > wait) join_event(n);
  }

  void takes(const Event& e) {
    if (relation_ != Relation::Must) join(clock_, posted_[e.target]);
  }

  // --- atomics and fences ---

  void reads_atomically(const Event& e) {
    const auto released = atomics_.find(e.target);
    if (released == atomics_.end()) return;
    if (acquires(e.order)) {
      join(clock_, released->second);
    } else {
      join(relaxed_[model_.find(e.thread)], released->second);
    }
  }
  void stores_atomically(Index i, const Event& e) {
    Clock& released = atomics_[e.target];
    if (e.op == Op::AtomicStore) released.clear();  // ends the release sequence; an rmw continues it
    if (releases(e.order)) join(released, all_before(i));
    join(released, fences_[model_.thread(i)]);
  }

  Order& order_;
  const Model& model_;
  Relation relation_;
  bool heeds_missing_;
  const Order* hb_;         // of CP
  const LockEdges* edges_;  // of CP
  MissingCalls calls_;
  Clock clock_;  // of the event being looked at
  std::map<uint64_t, Clock> released_, read_released_, posted_, atomics_;
  std::map<uint64_t, std::vector<Index>> notifies_;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<Index>> entered_;
  std::vector<Clock> fences_, relaxed_;  // by thread: its latest release fence, what its relaxed reads saw
};

Order::Order(const Model& model, Relation relation, bool heed_missing) : model_(model) {
  Builder(*this, relation, heed_missing).run();
}

Order::Order(const Model& model, const Order& hb, const LockEdges& edges, bool heed_missing) : model_(model) {
  Builder(*this, Relation::Cp, heed_missing, &hb, &edges).run();
}

}  // namespace pf::predict
