// See oracle.h. Each function named *_edge is one row of the table in docs/happens-before.md.
#include "property/oracle.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

namespace pf::oracle {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

bool gives_value(Op op) { return writes(op) || op == Op::Alloc; }
bool reads_value(Op op) { return op == Op::Read || op == Op::AtomicLoad || op == Op::AtomicRmw; }
bool modifies_atomically(Op op) { return op == Op::AtomicStore || op == Op::AtomicRmw; }
bool reads_atomically(Op op) { return op == Op::AtomicLoad || op == Op::AtomicRmw; }
bool conflicts_with_others(Op op) { return is_access(op) || op == Op::Free; }
bool touches_memory(Op op) { return is_access(op) || op == Op::Alloc || op == Op::Free; }
ThreadId other_thread(const Event& e) { return static_cast<ThreadId>(e.target); }

struct Extent {
  uint64_t begin, end;
};
Extent extent(const Event& e) { return {e.target, e.target + (is_access(e.op) ? e.size : e.value)}; }

// Memory cut into cells: bytes that no event of the trace tells apart. An event touches a contiguous range of cells.
class Cells {
 public:
  struct Range {
    size_t begin, end;
  };

  explicit Cells(std::span<const Event> trace) {
    std::set<uint64_t> cuts;
    for (const Event& e : trace)
      if (touches_memory(e.op)) cuts.insert({extent(e).begin, extent(e).end});
    const std::vector<uint64_t>& sorted = cuts_ = {cuts.begin(), cuts.end()};
    const auto cell_at = [&](uint64_t address) {
      return static_cast<size_t>(std::ranges::lower_bound(sorted, address) - sorted.begin());
    };
    for (const Event& e : trace)
      ranges_.push_back(touches_memory(e.op) ? Range{cell_at(extent(e).begin), cell_at(extent(e).end)} : Range{0, 0});
  }

  size_t count() const { return cuts_.size(); }
  Extent bytes(size_t cell) const { return {cuts_[cell], cuts_[cell + 1]}; }  // of a cell that an event touches
  Range of(size_t event) const { return ranges_[event]; }
  bool touches(size_t event, size_t cell) const { return ranges_[event].begin <= cell && cell < ranges_[event].end; }
  Range common(size_t a, size_t b) const {
    return {std::max(ranges_[a].begin, ranges_[b].begin), std::min(ranges_[a].end, ranges_[b].end)};
  }
  bool overlap(size_t a, size_t b) const { return common(a, b).begin < common(a, b).end; }

 private:
  std::vector<uint64_t> cuts_;
  std::vector<Range> ranges_;
};

bool ends_between(std::span<const Event> trace, const Cells& cells, size_t cell, size_t a, size_t b) {
  for (size_t i = a + 1; i < b; ++i)
    if ((trace[i].op == Op::Alloc || trace[i].op == Op::Free) && cells.touches(i, cell)) return true;
  return false;
}

bool conflict(std::span<const Event> trace, const Cells& cells, size_t a, size_t b) {
  const Event &x = trace[a], &y = trace[b];
  if (!conflicts_with_others(x.op) || !conflicts_with_others(y.op)) return false;
  if (x.thread == y.thread) return false;
  if (!writes(x.op) && !writes(y.op)) return false;
  if (is_atomic(x.op) && is_atomic(y.op)) return false;
  const Cells::Range common = cells.common(a, b);
  for (size_t cell = common.begin; cell < common.end; ++cell)
    if (!ends_between(trace, cells, cell, a, b)) return true;
  return false;
}

// The event whose value the byte has just before `reader`: the last write or alloc.
size_t last_write(std::span<const Event> trace, const Cells& cells, size_t cell, size_t reader) {
  for (size_t i = reader; i-- > 0;) {
    if (!cells.touches(i, cell)) continue;
    if (gives_value(trace[i].op)) return i;
  }
  return kNone;
}

// For each enter and leave, the round of its barrier that it belongs to.
std::vector<size_t> barrier_rounds(std::span<const Event> trace) {
  std::vector<size_t> rounds(trace.size(), kNone);
  std::map<uint64_t, size_t> open_round;
  std::map<std::pair<uint64_t, ThreadId>, size_t> latest_enter;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    if (e.op == Op::BarrierEnter) {
      rounds[i] = open_round[e.target];
      latest_enter[{e.target, e.thread}] = i;
    } else if (e.op == Op::BarrierLeave) {
      rounds[i] = rounds[latest_enter.at({e.target, e.thread})];
      open_round[e.target] = std::max(open_round[e.target], rounds[i] + 1);
    }
  }
  return rounds;
}

size_t own_wait(std::span<const Event> trace, size_t wake) {
  for (size_t i = wake; i-- > 0;)
    if (trace[i].op == Op::Wait && trace[i].thread == trace[wake].thread) return i;
  return kNone;
}

bool is_notified(std::span<const Event> trace, size_t wake, size_t notify) {
  return trace[wake].op == Op::Wake && trace[notify].op == Op::Notify && trace[wake].target == trace[notify].target &&
         own_wait(trace, wake) < notify && notify < wake;
}

class Rules {
 public:
  explicit Rules(std::span<const Event> trace)
      : trace_(trace), cells_(trace), rounds_(barrier_rounds(trace)), takes_from_(trace.size()) {
    for (size_t i = 0; i < trace_.size(); ++i)
      if (reads_atomically(trace_[i].op)) takes_from_[i] = release_heads(i);
  }

  bool hb_edge(size_t a, size_t b) const { return weak_hb_edge(a, b) || lock_edge(a, b); }
  bool weak_hb_edge(size_t a, size_t b) const {
    return program_order_edge(a, b) || fork_edge(a, b) || join_edge(a, b) || is_notified(trace_, b, a) ||
           barrier_edge(a, b) || semaphore_edge(a, b) || atomic_edge(a, b) || fence_edge(a, b);
  }
  bool reads_from_edge(size_t a, size_t b) const {
    if (!reads_value(trace_[b].op) || !gives_value(trace_[a].op)) return false;
    const Cells::Range common = cells_.common(a, b);
    for (size_t cell = common.begin; cell < common.end; ++cell)
      if (last_write(trace_, cells_, cell, b) == a) return true;
    return false;
  }

 private:
  bool program_order_edge(size_t a, size_t b) const { return trace_[a].thread == trace_[b].thread; }

  bool lock_edge(size_t a, size_t b) const {
    const Event &x = trace_[a], &y = trace_[b];
    if (x.target != y.target) return false;
    if (x.op == Op::Release) return y.op == Op::Acquire || y.op == Op::ReadAcquire;
    return x.op == Op::ReadRelease && y.op == Op::Acquire;
  }

  bool fork_edge(size_t a, size_t b) const {
    return trace_[a].op == Op::Fork && trace_[b].thread == other_thread(trace_[a]);
  }

  bool join_edge(size_t a, size_t b) const {
    if (trace_[b].op != Op::Join) return false;
    const bool forks_joined = trace_[a].op == Op::Fork && trace_[a].target == trace_[b].target;
    return forks_joined || trace_[a].thread == other_thread(trace_[b]);
  }

  bool barrier_edge(size_t a, size_t b) const {
    return trace_[a].op == Op::BarrierEnter && trace_[b].op == Op::BarrierLeave &&
           trace_[a].target == trace_[b].target && rounds_[a] == rounds_[b];
  }

  bool semaphore_edge(size_t a, size_t b) const {
    return trace_[a].op == Op::SemPost && trace_[b].op == Op::SemWait && trace_[a].target == trace_[b].target;
  }

  bool atomic_edge(size_t a, size_t b) const {
    return reads_atomically(trace_[b].op) && acquires(trace_[b].order) && released_to(a, b);
  }

  bool fence_edge(size_t a, size_t b) const {
    if (trace_[b].op != Op::Fence || !acquires(trace_[b].order)) return false;
    for (size_t read = 0; read < b; ++read)
      if (trace_[read].thread == trace_[b].thread && reads_atomically(trace_[read].op) && released_to(a, read))
        return true;
    return false;
  }

  // x releases at some store that the read takes from.
  bool released_to(size_t x, size_t read) const {
    const auto& heads = takes_from_[read];
    return std::ranges::any_of(heads, [&](size_t head) { return releases_at(x, head); });
  }

  bool releases_at(size_t x, size_t store) const {
    if (!releases(trace_[x].order)) return false;
    if (x == store) return true;
    return trace_[x].op == Op::Fence && trace_[x].thread == trace_[store].thread && x < store;
  }

  // The stores and rmws whose release sequence has the member that `read` reads from: from that member back through
  // rmws to the first store.
  std::vector<size_t> release_heads(size_t read) const {
    std::vector<size_t> heads;
    size_t member = last_modification(read);
    while (member != kNone) {
      heads.push_back(member);
      member = trace_[member].op == Op::AtomicRmw ? last_modification(member) : kNone;
    }
    return heads;
  }

  size_t last_modification(size_t before) const {
    const uint64_t object = trace_[before].target;
    for (size_t i = before; i-- > 0;) {
      const Event& e = trace_[i];
      if (modifies_atomically(e.op) && e.target == object) return i;
      const bool ends_object = e.op == Op::Alloc || e.op == Op::Free;
      if (ends_object && extent(e).begin <= object && object < extent(e).end) return kNone;
    }
    return kNone;
  }

  std::span<const Event> trace_;
  Cells cells_;
  std::vector<size_t> rounds_;
  std::vector<std::vector<size_t>> takes_from_;  // of each atomic read
};

void add_with_predecessors(std::vector<bool>& row, const std::vector<std::vector<bool>>& before, size_t a) {
  row[a] = true;
  for (size_t i = 0; i < a; ++i)
    if (before[a][i]) row[i] = true;
}

// The locks held by each thread so far, with how often each is held in each way.
class LockState {
 public:
  void apply(const Event& e) {
    switch (e.op) {
      case Op::Acquire: ++held_[e.thread][e.target].writes; break;
      case Op::Release: --held_[e.thread][e.target].writes; break;
      case Op::ReadAcquire: ++held_[e.thread][e.target].reads; break;
      case Op::ReadRelease: --held_[e.thread][e.target].reads; break;
      default: break;
    }
  }
  std::vector<Held> of(ThreadId thread) const {
    std::vector<Held> result;
    if (const auto locks = held_.find(thread); locks != held_.end())
      for (const auto& [lock, depth] : locks->second)
        if (depth.writes > 0 || depth.reads > 0) result.push_back({lock, depth.writes > 0});
    return result;
  }

 private:
  struct Depth {
    int writes = 0, reads = 0;
  };
  std::map<ThreadId, std::map<uint64_t, Depth>> held_;
};

// Exhaustive search over the correct reorderings of a trace. A state is how far each thread has run, which waiting
// threads have been notified and the value of each cell: all that decides what may run next.
class Predictor {
 public:
  explicit Predictor(std::span<const Event> trace);
  std::optional<std::vector<Race>> search(size_t max_states);

 private:
  struct ThreadPlan {
    std::vector<size_t> events;
    std::vector<std::vector<Held>> held;  // after as many events
    size_t fork = kNone;
  };
  // One code unit per number: positions of the threads, then their notified flags, then the values of the cells.
  using State = std::u16string;

  void plan_threads();
  void plan_reads();
  void plan_kept_order();
  void plan_semaphores();

  size_t next_event(const State& state, size_t thread) const;
  bool has_run(const State& state, size_t event) const { return position_[event] < state[thread_of_[event]]; }
  bool all_run(const State& state, const std::vector<size_t>& events) const;
  bool is_alive(const State& state, size_t thread) const;
  bool may_run(const State& state, size_t event) const;
  bool sees_same_values(const State& state, size_t event) const;
  std::optional<uint64_t> carried_value(size_t access, size_t cell) const;
  std::optional<uint64_t> known_value(size_t writer, size_t cell) const;
  char16_t as_value(size_t writer, size_t cell) const;
  bool keeps_memory_order(const State& state, size_t event) const;
  bool may_lock(const State& state, size_t event) const;
  bool may_join(const State& state, size_t event) const;
  bool may_leave(const State& state, size_t event) const;
  bool may_take(const State& state, size_t event) const;
  State run(State state, size_t event) const;
  void collect_races(const State& state);

  char16_t& notified(State& state, size_t thread) const { return state[threads_.size() + thread]; }
  char16_t notified(const State& state, size_t thread) const { return state[threads_.size() + thread]; }
  size_t value_index(size_t cell) const { return 2 * threads_.size() + cell; }

  std::span<const Event> trace_;
  Cells cells_;
  std::vector<size_t> rounds_;
  std::vector<ThreadPlan> threads_;
  std::map<ThreadId, size_t> index_of_;
  std::vector<size_t> thread_of_, position_;            // of each event
  std::vector<std::vector<char16_t>> seen_values_;      // of each read, by cell from its first on
  std::vector<std::optional<uint64_t>> first_values_;   // of each cell, if known
  std::vector<std::vector<size_t>> readers_;            // of each cell
  std::vector<std::vector<size_t>> must_not_have_run_;  // later events that keep their order with this one
  std::vector<bool> needs_notify_;                      // of each wake
  std::map<uint64_t, int> initial_count_;               // of each semaphore
  std::vector<std::vector<bool>> conflicts_;
  std::set<std::pair<size_t, size_t>> found_;  // second, first
};

Predictor::Predictor(std::span<const Event> trace) : trace_(trace), cells_(trace), rounds_(barrier_rounds(trace)) {
  plan_threads();
  plan_reads();
  plan_kept_order();
  plan_semaphores();
  needs_notify_.resize(trace_.size());
  conflicts_.assign(trace_.size(), std::vector<bool>(trace_.size()));
  for (size_t b = 0; b < trace_.size(); ++b)
    for (size_t a = 0; a < b; ++a) {
      if (is_notified(trace_, b, a)) needs_notify_[b] = true;
      conflicts_[a][b] = conflict(trace_, cells_, a, b);
    }
}

void Predictor::plan_threads() {
  LockState locks;
  for (size_t i = 0; i < trace_.size(); ++i) {
    const Event& e = trace_[i];
    const auto [entry, is_new] = index_of_.try_emplace(e.thread, threads_.size());
    if (is_new) threads_.push_back({{}, {{}}, kNone});
    locks.apply(e);
    ThreadPlan& thread = threads_[entry->second];
    thread_of_.push_back(entry->second);
    position_.push_back(thread.events.size());
    thread.events.push_back(i);
    thread.held.push_back(locks.of(e.thread));
  }
  for (size_t i = 0; i < trace_.size(); ++i)
    if (trace_[i].op == Op::Fork)
      if (const auto forked = index_of_.find(other_thread(trace_[i])); forked != index_of_.end())
        threads_[forked->second].fork = i;
}

void Predictor::plan_reads() {
  seen_values_.resize(trace_.size());
  first_values_.resize(cells_.count());
  readers_.resize(cells_.count());
  for (size_t i = 0; i < trace_.size(); ++i) {
    if (!reads_value(trace_[i].op)) continue;
    for (size_t cell = cells_.of(i).begin; cell < cells_.of(i).end; ++cell) {
      const size_t writer = last_write(trace_, cells_, cell, i);
      if (writer == kNone && trace_[i].op != Op::AtomicRmw && !first_values_[cell])
        first_values_[cell] = carried_value(i, cell);
      readers_[cell].push_back(i);
    }
  }
  for (size_t i = 0; i < trace_.size(); ++i) {
    if (!reads_value(trace_[i].op)) continue;
    for (size_t cell = cells_.of(i).begin; cell < cells_.of(i).end; ++cell)
      seen_values_[i].push_back(as_value(last_write(trace_, cells_, cell, i), cell));
  }
}

// The cell's bytes of the value that an access carries.
std::optional<uint64_t> Predictor::carried_value(size_t access, size_t cell) const {
  const Event& e = trace_[access];
  const Extent bytes = cells_.bytes(cell);
  if (!is_access(e.op) || !e.has_value || bytes.end - e.target > sizeof(e.value)) return {};
  uint64_t value = 0;
  for (uint64_t at = bytes.begin; at < bytes.end; ++at)
    value |= (e.value >> 8 * (at - e.target) & 0xff) << 8 * (at - bytes.begin);
  return value;
}

// Before any write a cell has a value too; the first read of it tells.
std::optional<uint64_t> Predictor::known_value(size_t writer, size_t cell) const {
  return writer == kNone ? first_values_[cell] : carried_value(writer, cell);
}

// A number for what a writer leaves in the cell: the same for writers that are known to leave the same value, and 0 for
// those that leave what was there at first.
char16_t Predictor::as_value(size_t writer, size_t cell) const {
  if (writer == kNone) return 0;
  const std::optional<uint64_t> value = known_value(writer, cell);
  if (!value) return static_cast<char16_t>(writer + 1);
  if (known_value(kNone, cell) == value) return 0;
  size_t first = 0;
  while (!gives_value(trace_[first].op) || !cells_.touches(first, cell) || known_value(first, cell) != value) ++first;
  return static_cast<char16_t>(first + 1);
}

// Memory keeps its history: of two events that must keep their order, the earlier one may not run after the later one.
void Predictor::plan_kept_order() {
  const auto allocates = [](Op op) { return op == Op::Alloc || op == Op::Free; };
  must_not_have_run_.resize(trace_.size());
  for (size_t b = 0; b < trace_.size(); ++b)
    for (size_t a = 0; a < b; ++a) {
      if (!cells_.overlap(a, b)) continue;
      const Op x = trace_[a].op, y = trace_[b].op;
      if (x == Op::Alloc || y == Op::Alloc || (allocates(x) && allocates(y))) must_not_have_run_[a].push_back(b);
    }
}

void Predictor::plan_semaphores() {
  std::map<uint64_t, int> count;
  for (const Event& e : trace_) {
    if (e.op == Op::SemPost) ++count[e.target];
    if (e.op == Op::SemWait) {
      --count[e.target];
      initial_count_[e.target] = std::max(initial_count_[e.target], -count[e.target]);
    }
  }
}

size_t Predictor::next_event(const State& state, size_t thread) const {
  const auto& events = threads_[thread].events;
  return state[thread] < events.size() ? events[state[thread]] : kNone;
}

bool Predictor::all_run(const State& state, const std::vector<size_t>& events) const {
  return std::ranges::all_of(events, [&](size_t event) { return has_run(state, event); });
}

bool Predictor::is_alive(const State& state, size_t thread) const {
  return threads_[thread].fork == kNone || has_run(state, threads_[thread].fork);
}

bool Predictor::may_run(const State& state, size_t event) const {
  if (!keeps_memory_order(state, event)) return false;
  switch (trace_[event].op) {
    case Op::Read:
    case Op::AtomicLoad:
    case Op::AtomicRmw: return sees_same_values(state, event);
    case Op::Acquire:
    case Op::ReadAcquire: return may_lock(state, event);
    case Op::Join: return may_join(state, event);
    case Op::Wake: return !needs_notify_[event] || notified(state, thread_of_[event]) != 0;
    case Op::BarrierLeave: return may_leave(state, event);
    case Op::SemWait: return may_take(state, event);
    default: return true;
  }
}

bool Predictor::sees_same_values(const State& state, size_t event) const {
  return state.compare(value_index(cells_.of(event).begin), seen_values_[event].size(), seen_values_[event].data(),
                       seen_values_[event].size()) == 0;
}

bool Predictor::keeps_memory_order(const State& state, size_t event) const {
  const auto& later = must_not_have_run_[event];
  return std::ranges::none_of(later, [&](size_t other) { return has_run(state, other); });
}

bool Predictor::may_lock(const State& state, size_t event) const {
  for (size_t thread = 0; thread < threads_.size(); ++thread) {
    if (thread == thread_of_[event]) continue;
    for (const Held& held : threads_[thread].held[state[thread]])
      if (held.lock == trace_[event].target && (held.for_writing || trace_[event].op == Op::Acquire)) return false;
  }
  return true;
}

bool Predictor::may_join(const State& state, size_t event) const {
  for (size_t i = 0; i < trace_.size(); ++i) {
    const bool forks_joined = trace_[i].op == Op::Fork && trace_[i].target == trace_[event].target;
    if (forks_joined && !has_run(state, i)) return false;
  }
  const auto joined = index_of_.find(other_thread(trace_[event]));
  return joined == index_of_.end() || all_run(state, threads_[joined->second].events);
}

bool Predictor::may_leave(const State& state, size_t event) const {
  for (size_t i = 0; i < trace_.size(); ++i) {
    const bool same_barrier = trace_[i].op == Op::BarrierEnter && trace_[i].target == trace_[event].target;
    if (same_barrier && rounds_[i] == rounds_[event] && !has_run(state, i)) return false;
  }
  return true;
}

bool Predictor::may_take(const State& state, size_t event) const {
  int count = initial_count_.at(trace_[event].target);
  for (size_t i = 0; i < trace_.size(); ++i) {
    if (trace_[i].target != trace_[event].target || !has_run(state, i)) continue;
    if (trace_[i].op == Op::SemPost) ++count;
    if (trace_[i].op == Op::SemWait) --count;
  }
  return count > 0;
}

Predictor::State Predictor::run(State state, size_t event) const {
  const Event& e = trace_[event];
  const size_t thread = thread_of_[event];
  ++state[thread];
  for (size_t cell = cells_.of(event).begin; cell < cells_.of(event).end; ++cell) {
    char16_t& value = state[value_index(cell)];
    if (gives_value(e.op)) value = as_value(event, cell);
    // A value that no one will read is none: states that differ only in such values are one.
    if (all_run(state, readers_[cell])) value = 0;
  }
  if (e.op == Op::Notify)
    for (size_t waiter = 0; waiter < threads_.size(); ++waiter) {
      const size_t next = next_event(state, waiter);
      if (next != kNone && needs_notify_[next] && trace_[next].target == e.target) notified(state, waiter) = 1;
    }
  if (e.op == Op::Wake) notified(state, thread) = 0;
  return state;
}

void Predictor::collect_races(const State& state) {
  std::vector<size_t> next;
  for (size_t thread = 0; thread < threads_.size(); ++thread)
    if (next_event(state, thread) != kNone && is_alive(state, thread)) next.push_back(next_event(state, thread));
  for (const size_t a : next)
    for (const size_t b : next)
      if (a < b && conflicts_[a][b]) found_.insert({b, a});
}

std::optional<std::vector<Race>> Predictor::search(size_t max_states) {
  const State start(2 * threads_.size() + cells_.count(), u'\0');
  std::unordered_set<State> visited{start};
  std::vector<State> open{start};
  while (!open.empty()) {
    if (visited.size() > max_states) return std::nullopt;
    const State state = std::move(open.back());
    open.pop_back();
    collect_races(state);
    for (size_t thread = 0; thread < threads_.size(); ++thread) {
      const size_t event = next_event(state, thread);
      if (event == kNone || !is_alive(state, thread) || !may_run(state, event)) continue;
      State successor = run(state, event);
      if (visited.insert(successor).second) open.push_back(std::move(successor));
    }
  }
  std::vector<Race> result;
  result.reserve(found_.size());
  for (const auto& [second, first] : found_) result.push_back({first, second});
  return result;
}

}  // namespace

Order::Order(std::span<const Event> trace, Relation relation) {
  const Rules rules(trace);
  for (size_t b = 0; b < trace.size(); ++b) {
    std::vector<bool> row(trace.size());
    for (size_t a = b; a-- > 0;)  // backwards: most predecessors are in the row before their own edge is looked at
      if (!row[a] && (relation == Relation::WeakHb ? rules.weak_hb_edge(a, b) : rules.hb_edge(a, b)))
        add_with_predecessors(row, before_, a);
    before_reading_.push_back(row);
    if (relation == Relation::Shb)
      for (size_t a = 0; a < b; ++a)
        if (rules.reads_from_edge(a, b)) add_with_predecessors(row, before_, a);
    before_.push_back(std::move(row));
  }
}

std::vector<Race> conflicts(std::span<const Event> trace) {
  const Cells cells(trace);
  std::vector<Race> result;
  for (size_t b = 0; b < trace.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if (conflict(trace, cells, a, b)) result.push_back({a, b});
  return result;
}

std::vector<Race> races(std::span<const Event> trace, Relation relation) {
  const Order order(trace, relation);
  std::vector<Race> result = conflicts(trace);
  std::erase_if(result, [&](const Race& pair) { return order.before_reading(pair.first, pair.second); });
  return result;
}

std::vector<std::vector<Held>> locks_held(std::span<const Event> trace) {
  LockState state;
  std::vector<std::vector<Held>> result;
  for (const Event& e : trace) {
    result.push_back(state.of(e.thread));
    state.apply(e);
  }
  return result;
}

std::optional<std::vector<Race>> predictable_races(std::span<const Event> trace, size_t max_states) {
  return Predictor(trace).search(max_states);
}

}  // namespace pf::oracle
