// A trace of a program of which parts are not instrumented: events left out at random, and the calls (BarrierPairs) that hide them.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "property/random_traces.h"

namespace pf {

class Deletion {
 public:
  enum class Spares { Threads, ThreadsAndBlocks };
  Deletion(std::span<const Event> trace, uint64_t seed, Spares spares = Spares::Threads)
      : trace_(trace), random_(seed), spares_(spares) {
    deleted_.resize(trace.size());
    std::map<ThreadId, std::vector<size_t>> by_thread;
    for (size_t i = 0; i < trace.size(); ++i) by_thread[trace[i].thread].push_back(i);
    for (const auto& [thread, events] : by_thread) delete_from(events);
  }

  Trace run() {
    Trace incomplete;
    for (size_t i = 0; i < trace_.size(); ++i) {
      if (const auto call = calls_.find(i); call != calls_.end()) begin(call->second, trace_[i].thread, incomplete);
      if (!deleted_[i]) incomplete.push_back(trace_[i]);
      for (size_t n = 0; n < ends_[i]; ++n) incomplete.push_back(event(trace_[i].thread, Op::MissingEnd));
    }
    return incomplete;
  }

 private:
  bool is_seen(Op op) const {
    if (op == Op::Alloc || op == Op::Free) return spares_ == Spares::ThreadsAndBlocks;
    return op == Op::Fork || op == Op::Join || op == Op::Begin || op == Op::End;
  }

  // Up to two calls of a thread, one after the other; some of what happens within is seen, as a callback's events are.
  void delete_from(const std::vector<size_t>& events) {
    for (size_t at = 0; at < events.size();) {
      at += random_.below(6);
      const size_t length = 1 + random_.below(5);
      if (at + length > events.size()) return;
      std::vector<size_t>& call = calls_[events[at]];
      for (size_t i = at; i < at + length; ++i) {
        const Op op = trace_[events[i]].op;
        if (is_seen(op) || random_.below(4) == 0) continue;
        deleted_[events[i]] = true;
        call.push_back(events[i]);
      }
      // Nobody acts after its end.
      const bool ends_thread = trace_[events[at + length - 1]].op == Op::End;
      ++ends_[events[at + length - (ends_thread && length > 1 ? 2 : 1)]];
      if (ends_thread && length == 1) calls_.erase(events[at]), ends_.erase(events[at]);
      at += length;
    }
  }

  void begin(const std::vector<size_t>& call, ThreadId thread, Trace& to) {
    to.push_back(event(thread, Op::MissingBegin));
    for (const size_t i : call) {
      const Event& e = trace_[i];
      if (!has_operand(e.op) || e.op == Op::Call || e.op == Op::Return) continue;
      Event reach = event(thread, Op::Reach);
      reach.target = e.target;
      const uint64_t extent = has_extent(e.op) ? e.value : 1;
      reach.value = is_access(e.op) ? e.size : extent;
      to.push_back(reach);
    }
  }

  static Event event(ThreadId thread, Op op) {
    Event e;
    e.thread = thread;
    e.op = op;
    return e;
  }

  std::span<const Event> trace_;
  RandomBits random_;
  Spares spares_;
  std::vector<bool> deleted_;
  std::map<size_t, std::vector<size_t>> calls_;  // by the first event
  std::map<size_t, size_t> ends_;
};

}  // namespace pf
