#include "filter/literace.h"

#include <algorithm>
#include <numeric>

#include "filter/call_stack.h"

namespace pf {
namespace {

constexpr std::size_t kCounterBytes = 56;  // with its node of the map

}  // namespace

LiteRaceFilter::LiteRaceFilter(LiteRaceOptions options)
    : law_{std::max<uint64_t>(options.burst, 1), options.seed != 0}, random_(options.seed) {}

std::span<const Event> LiteRaceFilter::pass(std::span<const Event> batch) {
  events_ += batch.size();
  const auto passes = [&](const Event& e) {
    const BurstRate rate = judge(thread(e.thread));
    ++rules_[rate];
    return rate != Paused;
  };
  return pass_accesses(batch, kept_, passes, [&](const Event& e) { follow(e); });
}

FilterStats LiteRaceFilter::stats() const {
  uint64_t bytes = threads_.size() * sizeof(Thread);
  for (const Thread& t : threads_) {
    bytes += t.functions.size() * kCounterBytes + t.stack.capacity() * sizeof(Frame);
  }
  const uint64_t accesses = std::accumulate(rules_.begin(), rules_.end(), uint64_t{0});
  return {.events = events_,
          .dropped = rules_[Paused],
          .bytes = bytes,
          .peak_bytes = bytes,  // it never shrinks
          .rules = {rules_.begin(), rules_.end()},
          .sampling = SamplingCounts::of_accesses(std::nullopt, accesses, accesses - rules_[Paused])};
}

LiteRaceFilter::Thread& LiteRaceFilter::thread(ThreadId id) {
  if (index(id) >= threads_.size()) threads_.resize(index(id) + 1);
  return threads_[index(id)];
}

BurstRate LiteRaceFilter::judge(Thread& t) {
  return t.stack.empty() ? t.outside.execute(law_, random_) : t.stack.back().rate;
}

void LiteRaceFilter::follow(const Event& e) {
  if (e.op != Op::Call && e.op != Op::Return) return;
  Thread& t = thread(e.thread);
  if (e.op == Op::Return) return leave_function(t.stack, e.target);
  t.stack.push_back({e.target, t.functions[e.target].execute(law_, random_)});
}

}  // namespace pf
