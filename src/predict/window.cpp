#include "predict/window.h"

#include <algorithm>
#include <limits>
#include <ranges>

namespace pf::predict {
namespace {

bool touches_memory(Op op) { return is_access(op) || op == Op::Free || op == Op::Alloc; }

uint64_t byte_mask(unsigned byte) { return uint64_t{0xff} << 8 * byte; }

}  // namespace

Range range_of(const Event& e) {
  const uint64_t size = is_access(e.op) ? e.size : e.value;
  return {e.target, e.target + std::min(size, std::numeric_limits<uint64_t>::max() - e.target)};
}

Cutter::Cutter(uint64_t window_events, Sink sink) : size_(window_events), sink_(std::move(sink)) { begin_window(); }

void Cutter::process(std::span<const Event> batch) {
  for (const Event& e : batch) {
    step(e);
    if (window_.events.size() == size_) end_window();
  }
}

void Cutter::finish() {
  if (!window_.events.empty()) end_window();
}

void Cutter::begin_window() {
  window_ = {};
  window_.number = next_number_++;
  window_.first = next_event_;
  for (const auto& [key, depth] : held_) window_.held.push_back({key.first, key.second, depth.first, depth.second});
  window_.missing = missing_;
  for (auto& [thread, w] : waiting_) w.notified_before = w.notified;
  for (auto& [id, s] : semaphores_) s.at_begin = s.balance;
}

void Cutter::end_window() {
  // The least initial count that makes the trace possible, as far as it is known by now.
  for (const auto& [id, s] : semaphores_) window_.tokens[id] = static_cast<uint64_t>(s.at_begin - s.least);
  window_.after_missing = has_missing_;
  take_words();
  next_event_ += window_.events.size();
  sink_(std::move(window_));
  begin_window();
}

void Cutter::step(const Event& e) {
  threads_.insert(e.thread);
  if (e.op == Op::Fork) threads_.insert(static_cast<ThreadId>(e.target));
  window_.events.push_back(e);
  window_.rounds.push_back(0);
  window_.notices.push_back(Window::Notice::None);
  window_.memory.push_back(is_access(e.op) || e.op == Op::Free ? blocks_.at(e.target) : RaceMemory{});
  if (e.op == Op::Alloc || e.op == Op::Free) blocks_.change(e, range_of(e).end - e.target);
  if (!is_access(e.op)) step_sync(e);
}

void Cutter::step_sync(const Event& e) {
  switch (e.op) {
    case Op::Acquire:
    case Op::ReadAcquire: return lock(e, 1);
    case Op::Release:
    case Op::ReadRelease: return lock(e, -1);
    case Op::Wait: waiting_[e.thread] = {.condition = e.target}; return;
    case Op::Notify:
      for (auto& [thread, w] : waiting_)
        if (w.condition == e.target) w.notified = true;
      return;
    case Op::Wake: window_.notices.back() = wake(e); return;
    case Op::BarrierEnter: {
      Barrier& b = barriers_[e.target];
      window_.rounds.back() = b.inside[e.thread] = b.open;
      return;
    }
    case Op::BarrierLeave: {
      Barrier& b = barriers_[e.target];
      const auto entered = b.inside.find(e.thread);
      // An enter or a leave in a call without instrumentation would have been of some round, too.
      const bool is_known = entered != b.inside.end() && !has_missing_;
      window_.rounds.back() = is_known ? entered->second : Window::kUnknownRound;
      if (entered == b.inside.end()) return;
      b.open = std::max(b.open, entered->second + 1);  // the first to leave closes the round
      b.inside.erase(entered);
      return;
    }
    case Op::SemPost: ++semaphores_[e.target].balance; return;
    case Op::SemWait: {
      Semaphore& s = semaphores_[e.target];
      s.least = std::min(s.least, --s.balance);
      return;
    }
    case Op::MissingBegin:
      missing_.push_back({e.thread, {}});
      has_missing_ = true;
      return;
    case Op::Reach: {
      const auto call =
          std::ranges::find_if(missing_ | std::views::reverse, [&](auto& m) { return m.thread == e.thread; });
      if (call != missing_.rend()) call->reach.push_back(range_of(e));
      return;
    }
    case Op::MissingEnd: {
      const auto call =
          std::ranges::find_if(missing_ | std::views::reverse, [&](auto& m) { return m.thread == e.thread; });
      if (call != missing_.rend()) missing_.erase(std::next(call).base());
      return;
    }
    default: return;
  }
}

void Cutter::lock(const Event& e, int change) {
  const bool writes = e.op == Op::Acquire || e.op == Op::Release;
  const auto entry = held_.try_emplace({e.thread, e.target}).first;
  uint32_t& depth = writes ? entry->second.first : entry->second.second;
  if (change > 0) {
    ++depth;
  } else if (depth > 0) {
    --depth;
  } else {  // what the trace has not seen acquired: held since before it, or acquired where nobody looked
    hold_from_start(e, writes);
  }
  if (entry->second == std::pair<uint32_t, uint32_t>{}) held_.erase(entry);
}

void Cutter::hold_from_start(const Event& e, bool writes) {
  auto held = std::ranges::find_if(window_.held,
                                   [&](const Window::Held& h) { return h.thread == e.thread && h.lock == e.target; });
  if (held == window_.held.end()) held = window_.held.insert(held, {e.thread, e.target, 0, 0});
  ++(writes ? held->writes : held->reads);
}

Window::Notice Cutter::wake(const Event& e) {
  const auto found = waiting_.find(e.thread);
  if (found == waiting_.end()) return Window::Notice::All;
  const Waiting w = found->second;
  waiting_.erase(found);
  return w.notified && !w.notified_before ? Window::Notice::One : Window::Notice::None;
}

// --- values ---

void Cutter::take_words() {
  const auto for_each_word = [](const Range& r, auto&& f) {
    for (uint64_t word = r.begin / 8; word * 8 < r.end; ++word) f(word);
  };
  if (!words_.empty()) {
    for (const Event& e : window_.events) {
      if (!is_access(e.op)) continue;
      for_each_word(range_of(e), [&](uint64_t word) {
        if (const auto known = words_.find(word); known != words_.end()) window_.words.insert(*known);
      });
    }
  }
  for (const Event& e : window_.events) remember_values(e);
  // A call without instrumentation may have written there unseen.
  for (const Window::Missing& m : window_.missing)
    for (const Range& range : m.reach) forget_values(range);
  for (const Event& e : window_.events)
    if (e.op == Op::Reach) forget_values(range_of(e));
}

void Cutter::remember_values(const Event& e) {
  if (!touches_memory(e.op)) return;
  const bool tells = is_access(e.op) && e.has_value && e.size <= 8;
  if (writes(e.op) || e.op == Op::Alloc) {
    if (!tells || e.size != 8 || e.target % 8 != 0) forget_values(range_of(e));
  }
  if (!tells) return;
  for (unsigned i = 0; i < e.size; ++i) {
    KnownWord& word = words_[(e.target + i) / 8];
    const unsigned at = (e.target + i) % 8;
    word.known |= byte_mask(at);
    word.value = (word.value & ~byte_mask(at)) | (e.value >> 8 * i & 0xff) << 8 * at;
  }
}

void Cutter::forget_values(const Range& range) {
  if (words_.empty()) return;
  const auto forget = [&](KnownWord& word, uint64_t number) {
    for (unsigned i = 0; i < 8; ++i)
      if (number * 8 + i >= range.begin && number * 8 + i < range.end) word.known &= ~byte_mask(i);
  };
  if ((range.end - range.begin) / 8 > words_.size()) {
    for (auto& [number, word] : words_) forget(word, number);
    return;
  }
  for (uint64_t number = range.begin / 8; number * 8 < range.end; ++number)
    if (const auto found = words_.find(number); found != words_.end()) forget(found->second, number);
}

}  // namespace pf::predict
