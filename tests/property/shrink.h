// Makes a failing trace small enough to read, and prints it.
// Guarantee: the result is well-formed (trace/check.h), still fails, and no thread, event or matching pair of events
// can be left out of it.
#pragma once
#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/event.h"
#include "core/object.h"
#include "trace/check.h"

namespace pf {

using Trace = std::vector<Event>;
using FailingTrace = std::function<bool(std::span<const Event>)>;

inline bool is_well_formed(std::span<const Event> trace) {
  Checker checker;
  return std::ranges::none_of(trace, [&](const Event& e) { return checker.next(e).has_value(); });
}

class Shrinker {
 public:
  Shrinker(Trace trace, FailingTrace fails) : trace_(std::move(trace)), fails_(std::move(fails)) {}

  Trace run() {
    do {
      progress_ = false;
      drop_threads();
      for (size_t length = trace_.size() / 2; length > 0; length /= 2) drop_chunks(length);
      drop_pairs();
      simplify_events();
    } while (progress_);
    return trace_;
  }

 private:
  bool accept(Trace candidate) {
    if (!is_well_formed(candidate) || !fails_(candidate)) return false;
    trace_ = std::move(candidate);
    return progress_ = true;
  }

  void drop_threads() {
    std::set<ThreadId> threads;
    for (const Event& e : trace_) threads.insert(e.thread);
    for (const ThreadId thread : threads) {
      Trace candidate = trace_;
      std::erase_if(candidate, [&](const Event& e) {
        const bool names_it = (e.op == Op::Fork || e.op == Op::Join) && e.target == index(thread);
        return e.thread == thread || names_it;
      });
      accept(std::move(candidate));
    }
  }

  // From the end, so that what follows a kept chunk has been tried already.
  void drop_chunks(size_t length) {
    for (size_t end = trace_.size(); end >= length; end -= length) {
      Trace candidate = trace_;
      const auto last = candidate.begin() + static_cast<std::ptrdiff_t>(end);
      candidate.erase(last - static_cast<std::ptrdiff_t>(length), last);
      accept(std::move(candidate));
    }
  }

  // Events that only make sense together, and so cannot be left out one at a time.
  static bool is_pair(const Event& a, const Event& b) {
    const bool any_thread = a.op == Op::Alloc && b.op == Op::Free;
    if (!any_thread && a.thread != b.thread) return false;
    if (a.op == Op::MissingBegin) return b.op == Op::MissingEnd;
    if (a.op == Op::SamplingOn || a.op == Op::SamplingOff) return b.op == Op::SamplingOn || b.op == Op::SamplingOff;
    if (a.target != b.target) return false;
    return any_thread || (a.op == Op::Acquire && b.op == Op::Release) ||
           (a.op == Op::ReadAcquire && b.op == Op::ReadRelease) || (a.op == Op::Wait && b.op == Op::Wake) ||
           (a.op == Op::BarrierEnter && b.op == Op::BarrierLeave);
  }

  void drop_pairs() {
    for (size_t i = trace_.size(); i-- > 0;)
      for (size_t j = i + 1; j < trace_.size(); ++j)
        if (is_pair(trace_[i], trace_[j]) && drop_pair(i, j)) break;
  }

  bool drop_pair(size_t i, size_t j) {
    Trace candidate = trace_;
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(j));
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
    return accept(std::move(candidate));
  }

  void simplify_events() {
    for (size_t i = 0; i < trace_.size(); ++i) {
      if (is_access(trace_[i].op)) change(i, [](Event& e) { e.has_value = false, e.value = 0; });
      if (trace_[i].op == Op::AtomicRmw && !change(i, [](Event& e) { e.op = Op::AtomicLoad; }))
        change(i, [](Event& e) { e.op = Op::AtomicStore; });
      if (has_order(trace_[i].op)) change(i, [](Event& e) { e.order = MemoryOrder::Relaxed; });
    }
  }

  template <class Change>
  bool change(size_t i, Change change_event) {
    Trace candidate = trace_;
    change_event(candidate[i]);
    return candidate[i] != trace_[i] && accept(std::move(candidate));
  }

  Trace trace_;
  FailingTrace fails_;
  bool progress_ = false;
};

inline Trace shrink(Trace trace, FailingTrace fails) { return Shrinker(std::move(trace), std::move(fails)).run(); }

inline std::string show(const Event& e) {
  static const Namer namer = plain_namer();
  std::string operand;
  if (e.op == Op::Fork || e.op == Op::Join)
    operand = namer.thread(static_cast<ThreadId>(e.target));
  else if (has_operand(e.op))
    operand = namer.object(object_kind(e.op), e.target);
  const auto add = [&](const std::string& part) { operand += (operand.empty() ? "" : ",") + part; };
  const bool is_whole_variable = e.size == kVariableSize && (e.target & kAbstract) != 0;
  if (is_access(e.op) && !is_whole_variable) add(std::to_string(e.size));
  if (has_extent(e.op)) add(std::to_string(e.value));
  if (has_order(e.op)) add(std::string(name(e.order)));
  if (e.has_value) add("=" + std::to_string(e.value));
  return namer.thread(e.thread) + "|" + std::string(name(e.op)) + (operand.empty() ? "" : "(" + operand + ")") + "|" +
         std::to_string(index(e.site));
}

// One event per line: T0|w(V1)|5.
inline std::string show(std::span<const Event> trace) {
  std::string text;
  for (const Event& e : trace) text += show(e) + "\n";
  return text;
}

}  // namespace pf
