#include "predict/osr.h"

#include <algorithm>
#include <utility>

#include "core/object.h"

namespace pf::predict {
namespace {

// Who touched a cell last: edges to whoever comes next and conflicts.
class CellOrder {
 public:
  CellOrder(Cell cells, Graph& graph) : graph_(graph), cells_(cells) {}

  void touch(Cell cell, Index i, bool reads_only) {
    Last& last = cells_[cell];
    if (last.writer != kNone) graph_.add(last.writer, i);
    if (reads_only) {
      readers_.push_back({i, last.readers});
      last.readers = static_cast<Index>(readers_.size() - 1);
      return;
    }
    for (Index r = std::exchange(last.readers, kNone); r != kNone; r = readers_[r].next)
      graph_.add(readers_[r].event, i);
    last.writer = i;
  }

 private:
  struct Last {
    Index writer = kNone, readers = kNone;  // readers: since the writer, the head of a list
  };
  struct Reader {
    Index event, next;
  };
  Graph& graph_;
  std::vector<Last> cells_;
  std::vector<Reader> readers_;
};

bool keeps_order_of_uses(Op op) {
  const ObjectKind kind = object_kind(op);
  return kind == ObjectKind::Condition || kind == ObjectKind::Barrier || kind == ObjectKind::Semaphore;
}

}  // namespace

SyncReversal::SyncReversal(const Model& model, const Order& kept, const Cuts& cuts)
    : model_(model), kept_(kept), cuts_(cuts), direct_(model.size()) {
  for (Index i = 0; i < model.size(); ++i) {
    const Index previous = model.previous(i);
    for (Thread t = 0; t < model.threads(); ++t) {
      const uint32_t count = kept.up_to(i)[t], known = previous == kNone ? 0 : kept.up_to(previous)[t];
      if (t != model.thread(i) && count > known) direct_[i].push_back(model.events_of(t)[count - 1]);
    }
  }
}

// Of a third thread, a section that is open while another one runs that collides with it: it ends. False: it never does.
bool SyncReversal::close(const std::vector<ThreadSections>& lock, Thread a, Thread b, Clock& cut, bool& grown) const {
  uint32_t writers = 0, holders = 0;  // threads
  for (const ThreadSections& use : lock) {
    writers += cuts_.last_begun(use.writing, cut) != nullptr ? 1 : 0;
    holders += cuts_.last_begun(use.holding, cut) != nullptr ? 1 : 0;
  }
  for (const ThreadSections& use : lock) {
    if (use.thread == a || use.thread == b) continue;
    const Section* writing = cuts_.last_begun(use.writing, cut);
    const Section* holding = cuts_.last_begun(use.holding, cut);
    const Section* open = nullptr;
    if (writing != nullptr && holders > 1 && cuts_.is_open(*writing, cut)) open = writing;
    if (holding != nullptr && writers > (writing != nullptr ? 1U : 0U) && cuts_.is_open(*holding, cut)) open = holding;
    if (open == nullptr) continue;
    if (open->end == kNone) return false;
    join(cut, kept_.up_to(open->end));
    grown = true;
  }
  return true;
}

std::optional<Clock> SyncReversal::events_that_run(Index a, Index b) const {
  return cuts_.grown_before(a, b, kept_, [&](const auto& lock, Clock& cut, bool& grown) {
    return close(lock, model_.thread(a), model_.thread(b), cut, grown);
  });
}

// All but locks.
void SyncReversal::order_events(const Clock& cut, Graph& graph) const {
  CellOrder cells(model_.cells().count(), graph);
  std::map<std::pair<ObjectKind, uint64_t>, Index> last_use;
  for (Index i = 0; i < model_.size(); ++i) {
    if (!cuts_.includes(cut, i)) continue;
    if (model_.previous(i) != kNone) graph.add(model_.previous(i), i);
    for (const Index before : direct_[i]) graph.add(before, i);
    const Event& e = model_.event(i);
    const bool reads_only = !changes_memory(e.op) && e.op != Op::Free;
    for (Cell cell = model_.cells().of(i).begin; cell < model_.cells().of(i).end; ++cell)
      cells.touch(cell, i, reads_only);
    if (!keeps_order_of_uses(e.op)) continue;
    const auto [last, is_first] = last_use.try_emplace({object_kind(e.op), e.target}, i);
    if (!is_first) graph.add(std::exchange(last->second, i), i);
  }
}

// False: one that does not end would have to begin before the window.
bool SyncReversal::order_sections(const LockUse& use, const Clock& cut, Graph& graph) const {
  const auto closed_of = [&](const std::vector<Section>& sections) {
    std::vector<Section> closed;
    for (const Section& s : sections)
      if (cuts_.has_begun(s, cut) && !cuts_.is_open(s, cut)) closed.push_back(s);
    std::ranges::sort(closed, {}, &Section::end);
    return closed;
  };
  const std::vector<Section> writing = closed_of(use.writing), holding = closed_of(use.holding);
  // To each section from the last writer before it: the writers before that one have an edge to it in turn.
  for (const Section& s : use.holding) {
    if (s.begin == kNone || !cuts_.includes(cut, s.begin)) continue;
    const auto after = std::ranges::lower_bound(writing, s.begin, {}, &Section::end);
    if (after != writing.begin()) graph.add(std::prev(after)->end, s.begin);
  }
  // From each section to the first writer after it.
  auto next = holding.begin();
  for (const Section& s : use.writing) {
    if (s.begin == kNone || !cuts_.includes(cut, s.begin) || cuts_.is_open(s, cut)) continue;
    for (; next != holding.end() && next->end < s.begin; ++next) graph.add(next->end, s.begin);
  }
  const auto put_last = [&](const std::vector<Section>& sections, const std::vector<Section>& before) {
    for (const Section& open : sections) {
      if (!cuts_.has_begun(open, cut) || !cuts_.is_open(open, cut)) continue;
      for (const Section& s : before) {
        if (s.thread == open.thread) continue;
        if (open.begin == kNone) return false;
        graph.add(s.end, open.begin);
      }
    }
    return true;
  };
  return put_last(use.writing, holding) && put_last(use.holding, writing);
}

std::optional<Schedule> SyncReversal::find(Index a, Index b) const {
  const std::optional<Clock> cut = events_that_run(a, b);
  if (!cut) return {};
  Graph graph(model_.size());
  for (const auto& [lock, use] : model_.locks())
    if (!order_sections(use, *cut, graph)) return {};
  order_events(*cut, graph);
  std::vector<bool> runs(model_.size());
  for (Index i = 0; i < model_.size(); ++i) runs[i] = cuts_.includes(*cut, i);
  Schedule schedule = graph.linearize(runs);
  if (std::ranges::count(runs, true) != static_cast<std::ptrdiff_t>(schedule.size())) return {};
  return schedule;
}

}  // namespace pf::predict
