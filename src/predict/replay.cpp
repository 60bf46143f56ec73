#include "predict/replay.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace pf::predict {

Replayer::Replayer(const Window& window, const Cells& cells, bool heed_missing) : window_(window), cells_(cells) {
  for (Index i = 0; i < window_.events.size(); ++i) {
    const Event& e = window_.events[i];
    const auto last = last_.try_emplace(e.thread, kNone).first;
    previous_.push_back(std::exchange(last->second, i));
    if (e.op == Op::Fork) forks_[static_cast<ThreadId>(e.target)] = i;
    if (window_.notices[i] == Window::Notice::One) wakes_[e.target].push_back(i);
    if (e.op == Op::BarrierEnter) enters_[{e.target, window_.rounds[i]}].push_back(i);
  }
  if (heed_missing) find_missing();
}

class Replayer::Machine {
 public:
  explicit Machine(const Replayer& rules) : rules_(rules), window_(rules.window_), cells_(rules.cells_) {
    has_run_.resize(window_.events.size());
    writer_.assign(cells_.count(), kNone);
    latest_.resize(cells_.count());
    tokens_ = window_.tokens;
    for (const Window::Held& h : window_.held) locks_[h.lock][h.thread] = {h.writes, h.reads};
  }

  void step(Index i) {
    const Event& e = window_.events[i];
    follow_program(i);
    memory(i);
    switch (e.op) {
      case Op::Acquire:
      case Op::ReadAcquire: acquire(i); break;
      case Op::Release:
      case Op::ReadRelease: release(e); break;
      case Op::Join: join(i); break;
      case Op::Wait: notified_.erase(e.thread); break;
      case Op::Notify: notify(e); break;
      case Op::Wake: wake(i); break;
      case Op::BarrierLeave: leave(i); break;
      case Op::SemPost: ++tokens_[e.target]; break;
      case Op::SemWait: take(i); break;
      default: break;
    }
    has_run_[i] = true;
  }

  bool is_next(Index i) const { return has_run(rules_.previous_[i]) && !has_run_[i] && is_alive(i); }
  std::vector<Fault> faults;

 private:
  struct Hold {
    uint32_t writes = 0, reads = 0;
    Index since = kNone, writes_since = kNone;
  };
  // The latest event, by its place in the trace, that has touched a cell.
  struct Latest {
    Index any = kNone, lifetime = kNone, alloc = kNone;
  };

  bool has_run(Index i) const { return i == kNone || has_run_[i]; }
  bool is_alive(Index i) const {
    const auto fork = rules_.forks_.find(window_.events[i].thread);
    return fork == rules_.forks_.end() || has_run_[fork->second];
  }
  void expect(bool holds, Index i) {
    if (!holds) faults.push_back({.event = i});
  }

  void follow_program(Index i) { expect(is_next(i), i); }

  void memory(Index i) {
    const Op op = window_.events[i].op;
    for (Cell cell = cells_.of(i).begin; cell < cells_.of(i).end; ++cell) {
      if (reads_memory(op) && !cells_.accepts(i, cell, writer_[cell]))
        faults.push_back({.kind = Fault::Kind::Value, .event = i, .other = writer_[cell], .cell = cell});
      if (changes_memory(op)) writer_[cell] = i;
      keep_lifetimes(i, latest_[cell]);
    }
  }
  // Blocks live and die in the order of the trace, and an alloc keeps its place among the accesses.
  void keep_lifetimes(Index i, Latest& latest) {
    const Op op = window_.events[i].op;
    const bool is_alloc = op == Op::Alloc, is_lifetime = is_alloc || op == Op::Free;
    const Index others = is_lifetime ? latest.lifetime : latest.alloc;
    const Index bound = is_alloc ? latest.any : others;
    if (bound != kNone && bound > i) faults.push_back({.kind = Fault::Kind::Lifetime, .event = i, .other = bound});
    const auto raise = [&](Index& to) { to = to == kNone ? i : std::max(to, i); };
    raise(latest.any);
    if (is_lifetime) raise(latest.lifetime);
    if (is_alloc) raise(latest.alloc);
  }

  void acquire(Index i) {
    const Event& e = window_.events[i];
    auto& holders = locks_[e.target];
    for (const auto& [thread, hold] : holders) {
      const bool collides = thread != e.thread && (hold.writes > 0 || (e.op == Op::Acquire && hold.reads > 0));
      if (collides)
        faults.push_back({.kind = Fault::Kind::Lock,
                          .event = i,
                          .other = e.op == Op::Acquire ? hold.since : hold.writes_since,
                          .holder = thread});
    }
    Hold& own = holders[e.thread];
    if (own.writes == 0 && own.reads == 0) own.since = i;
    if (own.writes == 0) own.writes_since = i;
    ++(e.op == Op::Acquire ? own.writes : own.reads);
  }
  void release(const Event& e) {
    Hold& own = locks_[e.target][e.thread];
    uint32_t& depth = e.op == Op::Release ? own.writes : own.reads;
    if (depth > 0) --depth;
  }

  void join(Index i) {
    const ThreadId child{static_cast<uint32_t>(window_.events[i].target)};
    const auto last = rules_.last_.find(child);
    expect(last == rules_.last_.end() || has_run_[last->second], i);
    const auto fork = rules_.forks_.find(child);
    expect(fork == rules_.forks_.end() || has_run_[fork->second], i);
  }

  // Whoever stands between its wait on the condition and its wake.
  void notify(const Event& e) {
    const auto wakes = rules_.wakes_.find(e.target);
    if (wakes == rules_.wakes_.end()) return;
    for (const Index i : wakes->second)
      if (!has_run_[i] && has_run(rules_.previous_[i])) notified_.insert(window_.events[i].thread);
  }

  void wake(Index i) {
    const Event& e = window_.events[i];
    if (window_.notices[i] == Window::Notice::One) expect(notified_.contains(e.thread), i);
    for (Index n = 0; n < i && window_.notices[i] == Window::Notice::All; ++n)
      if (window_.events[n].op == Op::Notify && window_.events[n].target == e.target) expect(has_run_[n], i);
  }

  void leave(Index i) {
    for (const auto& [of, enters] : rules_.enters_) {
      const bool is_own_round = of.second == window_.rounds[i] || window_.rounds[i] == Window::kUnknownRound;
      if (of.first != window_.events[i].target || !is_own_round) continue;
      for (const Index enter : enters) expect(has_run_[enter] || (enter > i && window_.rounds[i] != of.second), i);
    }
  }

  void take(Index i) {
    uint64_t& count = tokens_[window_.events[i].target];
    expect(count > 0, i);
    if (count > 0) --count;
  }

  const Replayer& rules_;
  const Window& window_;
  const Cells& cells_;
  std::vector<bool> has_run_;
  std::vector<Index> writer_;
  std::vector<Latest> latest_;
  std::map<uint64_t, std::map<ThreadId, Hold>> locks_;
  std::map<uint64_t, uint64_t> tokens_;
  std::set<ThreadId> notified_;
};

std::vector<Fault> Replayer::faults(const Schedule& schedule) const {
  Machine machine(*this);
  for (const Index i : schedule) machine.step(i);
  if (!keeps_missing(schedule)) machine.faults.push_back({});
  return machine.faults;
}

bool Replayer::leads_to(const Schedule& schedule, Index a, Index b) const {
  Machine machine(*this);
  for (const Index i : schedule) machine.step(i);
  return machine.is_next(a) && machine.is_next(b);
}

void Replayer::find_missing() {
  struct Call {
    ThreadId thread;
    std::vector<Range> reach;
    Index begin;  // kNone: before the window
    Index end;
  };
  std::vector<Call> calls;
  calls.reserve(window_.missing.size());
  const auto past = static_cast<Index>(window_.events.size());
  for (const Window::Missing& m : window_.missing) calls.push_back({m.thread, m.reach, kNone, past});
  const auto open_call = [&](ThreadId thread) {
    return std::ranges::find_if(calls | std::views::reverse,
                                [&](const Call& c) { return c.thread == thread && c.end == past; });
  };
  for (Index i = 0; i < past; ++i) {
    const Event& e = window_.events[i];
    if (e.op == Op::MissingBegin) calls.push_back({e.thread, {}, i, past});
    const auto call = open_call(e.thread);
    if (call == calls.rend()) continue;
    if (e.op == Op::Reach) call->reach.push_back(range_of(e));
    if (e.op == Op::MissingEnd) call->end = i;
  }
  for (const Call& c : calls) {
    Missing& m = missing_.emplace_back();
    for (Index i = 0; i < past; ++i) {
      const Event& e = window_.events[i];
      if (e.thread == c.thread) {
        const bool is_within = (c.begin == kNone || c.begin < i) && i <= c.end && e.op != Op::Reach;
        if (is_within) m.own.push_back(i);
        continue;
      }
      if (!has_operand(e.op) || e.op == Op::Fork || e.op == Op::Join || object_kind(e.op) == ObjectKind::Function)
        continue;
      const Range range = touches_memory(e.op) ? range_of(e) : Range{e.target, e.target + 1};
      if (e.op != Op::Reach && std::ranges::any_of(c.reach, [&](const Range& r) { return r.overlaps(range); }))
        m.others.push_back(i);
    }
  }
}

// What a call without instrumentation did unseen, it did after the others' events that came before, and before those that came
// after: of two such events the later one is in the schedule only after the earlier one.
bool Replayer::keeps_missing(const Schedule& schedule) const {
  if (missing_.empty()) return true;
  std::vector<size_t> place(window_.events.size(), schedule.size());
  for (size_t i = 0; i < schedule.size(); ++i) place[schedule[i]] = i;
  const auto follows = [&](const std::vector<Index>& later, const std::vector<Index>& earlier) {
    size_t at = 0, last = 0;
    bool any = false;
    for (const Index i : later) {
      for (; at < earlier.size() && earlier[at] < i; ++at) {
        last = std::max(last, place[earlier[at]]);
        any = true;
      }
      if (place[i] != schedule.size() && any && place[i] <= last) return false;
    }
    return true;
  };
  return std::ranges::all_of(missing_,
                             [&](const Missing& m) { return follows(m.own, m.others) && follows(m.others, m.own); });
}

}  // namespace pf::predict
