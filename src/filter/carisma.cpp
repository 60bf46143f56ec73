#include "filter/carisma.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/hash.h"
#include "core/object.h"
#include "filter/call_stack.h"

namespace pf {
namespace {

constexpr std::size_t kNodeBytes = 80;  // of a map with its share of the allocator

}  // namespace

// --- trials ---

Status CarismaFilter::start(const StableNames& names) {
  names_ = &names;
  if (options_.state.empty()) return Done{};
  const Result<CarismaState> state = load_state(options_.state, unit());
  if (!state) return state.error();
  set_state(*state);
  return Done{};
}

void CarismaFilter::set_state(const CarismaState& state) {
  random_ = Random(hash_with(options_.seed, state.trials));  // each trial draws anew
  contexts_.clear();
  context_index_.clear();
  for (const auto& [id, rate] : state.next_rates(options_.law)) {
    context_index_[id] = static_cast<uint32_t>(contexts_.size());
    contexts_.push_back({.id = id, .plan = options_.law.plan(rate)});
  }
}

// Of every context known, whether this trial met it or not: a size is the mean over trials.
CarismaState CarismaFilter::trial() const {
  CarismaState state;
  state.trials = 1;
  for (const Context& c : contexts_) state.contexts[c.id] = {c.samples, c.plan.rate};
  return state;
}

Status CarismaFilter::finish() {
  return options_.state.empty() ? Status(Done{}) : add_trial(options_.state, unit(), trial());
}

FilterStats CarismaFilter::stats() const {
  const uint64_t nodes = context_index_.size() + locations_.size() + blocks_.size();
  const uint64_t bytes = nodes * kNodeBytes + contexts_.size() * sizeof(Context);
  const uint64_t accesses = std::accumulate(rules_.begin(), rules_.end(), uint64_t{0});
  return {.events = events_,
          .dropped = accesses - rules_[Sampled],
          .bytes = bytes,
          .peak_bytes = bytes,
          .rules = {rules_.begin(), rules_.end()},
          .sampling =
              SamplingCounts::of_accesses(static_cast<double>(options_.law.rate) * 0x1p-32, accesses, rules_[Sampled])};
}

// --- accesses ---

std::span<const Event> CarismaFilter::pass(std::span<const Event> batch) {
  events_ += batch.size();
  const auto passes = [&](const Event& e) {
    const Rule rule = judge(e);
    ++rules_[rule];
    return rule == Sampled;
  };
  return pass_accesses(batch, kept_, passes, [&](const Event& e) { follow(e); });
}

// An access to several locations passes if one of them is sampled.
CarismaFilter::Rule CarismaFilter::judge(const Event& e) {
  Rule best = LocationDropped;
  const uint64_t first = e.target / kVariableSize, last = (e.target + std::max(e.size, 1U) - 1) / kVariableSize;
  for (uint64_t i = first; i <= last; ++i) {
    const Rule rule = judge_location(e, i * kVariableSize);
    if (best != Sampled && rule != LocationDropped) best = rule;
  }
  return best;
}

CarismaFilter::Rule CarismaFilter::judge_location(const Event& e, uint64_t address) {
  Location& x = locations_[address];
  const Block* block = block_at(address);
  if (const uint64_t life = block == nullptr ? 1 : block->life; x.life != life) {
    x = {.life = life};
    decide(x, e, address, block);
  }
  if (!x.sampled) return LocationDropped;
  Context& c = contexts_[x.context];
  const bool in_burst = c.plan.in_burst(x.phase);
  if (e.op == Op::Write) {
    if (c.plan.pause != 0) x.phase = (x.phase + 1) % c.plan.cycle();
    if (in_burst && options_.law.counts_writes()) ++c.samples;
  }
  return in_burst ? Sampled : AccessDropped;
}

void CarismaFilter::decide(Location& x, const Event& e, uint64_t address, const Block* block) {
  x.context = context_of(e, address, block);
  Context& c = contexts_[x.context];
  x.sampled = random_.chance(c.plan.location_rate);
  if (!x.sampled) return;
  if (!options_.law.counts_writes()) ++c.samples;
  if (c.plan.pause != 0) x.phase = random_.below(c.plan.cycle());
}

// --- contexts ---

uint32_t CarismaFilter::context_of(const Event& e, uint64_t address, const Block* block) {
  if (block == nullptr) return find_context(hash_with(thread(e.thread).type, names_->variable(address)));
  const uint64_t size = block->last - block->first + 1;
  const uint64_t type = data_type(size, std::max(address, block->first) - block->first);
  return find_context(hash_with(block->origin, type));
}

uint32_t CarismaFilter::find_context(uint64_t id) {
  const auto [it, fresh] = context_index_.try_emplace(id, static_cast<uint32_t>(contexts_.size()));
  if (fresh) contexts_.push_back({.id = id, .plan = options_.law.plan(options_.law.rate)});
  return it->second;
}

CarismaFilter::Thread& CarismaFilter::thread(ThreadId id) {
  if (index(id) >= threads_.size()) threads_.resize(index(id) + 1);
  return threads_[index(id)];
}

void CarismaFilter::follow(const Event& e) {
  switch (e.op) {
    case Op::Fork: thread(ThreadId{static_cast<uint32_t>(e.target)}).type = names_->site(e.site); return;
    case Op::Call: thread(e.thread).stack.push_back({e.target, names_->site(e.site)}); return;
    case Op::Return: return leave_function(thread(e.thread).stack, e.target);
    case Op::Alloc: return allocate(e);
    default: return;
  }
}

// --- memory ---

// The last block that has a byte of the location.
const CarismaFilter::Block* CarismaFilter::block_at(uint64_t location) const {
  auto it = blocks_.upper_bound(location + kVariableSize - 1);
  if (it == blocks_.begin()) return nullptr;
  --it;
  return it->second.last < location ? nullptr : &it->second;
}

// A freed block stays until its memory is used again: a late access to it is decided as it was.
void CarismaFilter::allocate(const Event& e) {
  if (e.value == 0) return;
  const uint64_t last = e.target + std::min(e.value, std::numeric_limits<uint64_t>::max() - e.target) - 1;
  auto it = blocks_.upper_bound(last);
  while (it != blocks_.begin() && std::prev(it)->second.last >= e.target) it = blocks_.erase(std::prev(it));
  const Thread& t = thread(e.thread);
  uint64_t origin = hash_with(t.type, names_->site(e.site));
  for (std::size_t i = 1; i < options_.depth && i <= t.stack.size(); ++i) {
    origin = hash_with(origin, t.stack[t.stack.size() - i].site);
  }
  blocks_[e.target] = {e.target, last, ++lives_, origin};
}

}  // namespace pf
