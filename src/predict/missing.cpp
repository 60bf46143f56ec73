#include "predict/missing.h"

#include <algorithm>
#include <ranges>

namespace pf::predict {

MissingCalls::MissingCalls(const Model& model) : model_(model) {
  for (const Window::Missing& m : model.window().missing) {
    const Thread t = model.find(m.thread);
    calls_.push_back({t, true, m.reach, Clock(model.threads())});
  }
}

bool MissingCalls::has_range(const Event& e) {
  switch (e.op) {
    case Op::Fork:
    case Op::Join:
    case Op::Call:
    case Op::Return:
    case Op::MissingBegin:
    case Op::Reach: return false;
    default: return has_operand(e.op);
  }
}

// A lock, condition, barrier or semaphore is memory, too: where it is, a recorded trace says by its address.
Range MissingCalls::operand(const Event& e) {
  return touches_memory(e.op) ? range_of(e) : Range{e.target, e.target + 1};
}

bool MissingCalls::reaches(const Call& call, const Range& range) {
  return std::ranges::any_of(call.reach, [&](const Range& r) { return r.overlaps(range); });
}

void MissingCalls::join_own(Thread t, Clock& clock) const {
  for (const Call& call : calls_)
    if (call.thread == t && call.under_way) join(clock, call.learned);
}

void MissingCalls::join_reaching(const Event& e, Clock& clock) const {
  if (!has_range(e)) return;
  for (const Call& call : calls_)
    if (reaches(call, operand(e))) join(clock, call.learned);
}

void MissingCalls::ran(Thread t, const Event& e, std::span<const uint32_t> clock) {
  const auto own = std::ranges::find_if(calls_ | std::views::reverse,
                                        [&](const Call& call) { return call.thread == t && call.under_way; });
  if (e.op == Op::MissingBegin) {
    calls_.push_back({t, true, {}, Clock(clock.begin(), clock.end())});
    return;
  }
  if (own != calls_.rend()) {
    for (Call& call : calls_)
      if (call.thread == t && call.under_way) learn(call, clock);  // the calls around it, too
    if (e.op == Op::Reach) reach_more(*own, range_of(e));
    if (e.op == Op::MissingEnd) own->under_way = false;
  }
  if (!has_range(e) || (calls_.empty() && !model_.has_missing_calls())) return;
  for (Call& call : calls_)
    if (call.under_way && call.thread != t && reaches(call, operand(e))) learn(call, clock);
  const Range range = operand(e);
  auto [entry, is_new] = touched_.try_emplace({range.begin, range.end}, Touched{range, {}});
  if (is_new) entry->second.clock.assign(clock.begin(), clock.end());
  join(entry->second.clock, clock);
}

// Passes on to whatever call under way shares memory with it, and so on.
void MissingCalls::learn(Call& call, std::span<const uint32_t> clock) {
  const bool is_new = !std::ranges::equal(call.learned, clock, [](uint32_t known, uint32_t c) { return known >= c; });
  if (!is_new) return;
  join(call.learned, clock);
  for (Call& other : calls_) {
    if (&other == &call || !other.under_way) continue;
    const bool shares = std::ranges::any_of(call.reach, [&](const Range& r) { return reaches(other, r); });
    if (shares) learn(other, call.learned);
  }
}

// All that has been done there may have been seen, and calls that reach it exchange what they know.
void MissingCalls::reach_more(Call& call, const Range& range) {
  Clock known = call.learned;
  for (const auto& [key, touched] : touched_)
    if (touched.range.overlaps(range)) join(known, touched.clock);
  for (const Call& other : calls_)
    if (&other != &call && reaches(other, range)) join(known, other.learned);
  call.reach.push_back(range);
  join(call.learned, known);
  for (Call& other : calls_) {
    if (&other == &call || !other.under_way) continue;
    const bool shares = std::ranges::any_of(call.reach, [&](const Range& r) { return reaches(other, r); });
    if (shares) learn(other, known);
  }
}

}  // namespace pf::predict
