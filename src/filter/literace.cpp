#include "filter/literace.h"

#include <algorithm>
#include <numeric>

#include "filter/call_stack.h"

namespace pf {
namespace {

constexpr std::size_t kCounterBytes = 56;  // with its node of the map

}  // namespace

LiteRaceFilter::LiteRaceFilter(LiteRaceOptions options) : options_(options), random_(options.seed) {
  options_.burst = std::max<uint64_t>(options_.burst, 1);
}

std::span<const Event> LiteRaceFilter::pass(std::span<const Event> batch) {
  kept_.clear();
  events_ += batch.size();
  for (const Event& e : batch) {
    if (e.op <= Op::Write) {
      const Rule rule = judge(thread(e.thread));
      ++rules_[rule];
      if (rule == Dropped) continue;
    } else {
      follow(e);
    }
    kept_.push_back(e);
  }
  return kept_;
}

FilterStats LiteRaceFilter::stats() const {
  uint64_t bytes = threads_.size() * sizeof(Thread);
  for (const Thread& t : threads_) {
    bytes += t.functions.size() * kCounterBytes + t.stack.capacity() * sizeof(Frame);
  }
  const uint64_t accesses = std::accumulate(rules_.begin(), rules_.end(), uint64_t{0});
  return {.events = events_,
          .dropped = rules_[Dropped],
          .bytes = bytes,
          .peak_bytes = bytes,  // it never shrinks
          .rules = {rules_.begin(), rules_.end()},
          .sampling = SamplingCounts::of_accesses(std::nullopt, accesses, accesses - rules_[Dropped])};
}

LiteRaceFilter::Thread& LiteRaceFilter::thread(ThreadId id) {
  if (index(id) >= threads_.size()) threads_.resize(index(id) + 1);
  return threads_[index(id)];
}

LiteRaceFilter::Rule LiteRaceFilter::judge(Thread& t) {
  return t.stack.empty() ? execute(t.outside) : t.stack.back().rule;
}

LiteRaceFilter::Rule LiteRaceFilter::execute(Counter& c) {
  if (c.pause != 0) {
    --c.pause;
    return Dropped;
  }
  const Rule rule = c.rate;
  if (++c.sampled < options_.burst) return rule;
  c.rate = rule == At01 ? At01 : static_cast<Rule>(rule + 1);
  c.pause = pause_after(c.rate);
  c.sampled = 0;
  return rule;
}

// So long that a burst and a pause have that rate, on average.
uint64_t LiteRaceFilter::pause_after(Rule rate) {
  uint64_t length = options_.burst;
  for (int i = At100; i < rate; ++i) length *= 10;
  length -= options_.burst;
  if (options_.seed == 0) return length;
  return length - length / 2 + random_.below(length / 2 * 2 + 1);
}

void LiteRaceFilter::follow(const Event& e) {
  if (e.op != Op::Call && e.op != Op::Return) return;
  Thread& t = thread(e.thread);
  if (e.op == Op::Return) return leave_function(t.stack, e.target);
  t.stack.push_back({e.target, execute(t.functions[e.target])});
}

}  // namespace pf
