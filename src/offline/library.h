// Calls without instrumentation in a trace, for a detector that orders by them (core/library_order.h): the memory that they reach, cut where
// ranges begin and end, and the calls of each thread that are under way.
//
// A trace does not say where a callback begins and ends: each event of a thread that is in a call is one.
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "core/library_order.h"
#include "offline/sync.h"

namespace pf {

template <class D, class Env>
class LibraryState {
  using Group = typename D::Group;
  using Thread = typename D::Thread;

 public:
  explicit LibraryState(Env& env) : env_(env) {}

  // Before an event and after it: what its thread's calls may have told it, and what they learn by it.
  void before(Thread& t, const Event& e) {
    for (Group* g : calls_[e.thread]) D::be_told(t, g, env_);
    if (!synchronizes(e)) return;
    for_each_part(e.target, end_of(e), [&](Part& p) {
      if (p.group != nullptr) D::be_told(t, p.group, env_);
    });
  }
  void after(Thread& t, const Event& e) {
    step(t, e);
    for (Group* g : calls_[e.thread]) D::tell(t, g, env_);
    if (!synchronizes(e)) return;
    for_each_part(e.target, end_of(e), [&](Part& p) {
      if (p.group != nullptr) return D::tell(t, p.group, env_);
      if (p.touched == nullptr) p.touched = D::new_memory(env_);
      D::tell(t, p.touched, env_);
    });
  }

 private:
  struct Part {
    uint64_t end = 0;
    Group* group = nullptr;    // of calls that have reached it
    Group* touched = nullptr;  // else, for the first that will: what synchronized there
  };

  static bool synchronizes(const Event& e) {
    return e.op >= Op::AtomicLoad && has_operand(e.op) && !has_extent(e.op) && e.op != Op::Fork && e.op != Op::Join &&
           e.op != Op::Call && e.op != Op::Return && e.op != Op::MissingBegin;
  }
  static uint64_t end_of(const Event& e) { return e.target + (is_access(e.op) ? e.size : 1); }

  void step(Thread& t, const Event& e) {
    std::vector<Group*>& calls = calls_[e.thread];
    if (e.op == Op::MissingBegin) calls.push_back(D::new_group(env_));
    if (calls.empty()) return;
    if (e.op == Op::Reach) reach(t, calls.back(), e.target, e.target + extent(e));
    if (e.op != Op::MissingEnd) return;
    D::end_call(t, calls.back(), env_);
    calls.pop_back();
  }

  void reach(Thread& t, Group*& call, uint64_t begin, uint64_t end) {
    for_each_part(begin, end, [&](Part& p) {
      if (p.touched != nullptr) D::be_told(t, p.touched, env_);
      D::drop(p.touched, env_);
      D::reach(t, call, p.group, env_);
    });
  }

  // f(part) for parts that are together just this.
  template <class F>
  void for_each_part(uint64_t begin, uint64_t end, F f) {
    if (begin >= end) return;
    cut(begin);
    cut(end);
    auto it = parts_.lower_bound(begin);
    while (begin < end) {
      const uint64_t next = it == parts_.end() ? end : std::min(end, it->first);
      if (begin < next) it = parts_.emplace(begin, Part{next, nullptr, nullptr}).first;
      f(it->second);
      begin = it->second.end;
      ++it;
    }
  }
  void cut(uint64_t at) {
    auto it = parts_.lower_bound(at);
    if (it == parts_.begin() || (it != parts_.end() && it->first == at)) return;
    Part& low = std::prev(it)->second;
    if (low.end <= at) return;
    Part high = low;
    for (Group* g : {high.group, high.touched}) {
      if (g != nullptr) ++g->references;
    }
    low.end = at;
    parts_.emplace(at, high);
  }

  Env& env_;
  std::map<uint64_t, Part> parts_;                 // by where they begin
  std::map<ThreadId, std::vector<Group*>> calls_;  // under way, the innermost last
};

}  // namespace pf
