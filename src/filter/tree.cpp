#include "filter/tree.h"

#include <algorithm>
#include <limits>

#include "core/object.h"

namespace pf {
namespace {

constexpr std::size_t kNodeBytes = 80;   // of a map with its share of the allocator
constexpr uint64_t kReleaseMessage = 0;  // with `exact`: no message has this number

// Objects of different kinds may have the same id.
uint64_t object_of(const Event& e) { return e.target * 8 + static_cast<uint64_t>(object_kind(e.op)); }

}  // namespace

std::span<const Event> TreeFilter::pass(std::span<const Event> batch) {
  events_ += batch.size();
  const auto passes = [&](const Event& e) {
    const TreeRule rule = judge(e);
    ++rules_[rule];
    return !drops(rule);
  };
  return pass_accesses(batch, kept_, passes, [&](const Event& e) { follow(e); });
}

FilterStats TreeFilter::stats() const {
  const std::size_t nodes = histories_.size() + mixed_lives_.size() + last_message_.size() + blocks_.size();
  const uint64_t others = heap_.live + nodes * kNodeBytes;
  return {.events = events_,
          .dropped = rules_[SameThread] + rules_[TwoThreads],
          .bytes = seen_.bytes() + others,
          .peak_bytes = seen_.peak_bytes() + others,
          .rules = {rules_.begin(), rules_.end()}};
}

TreeFilter::Thread& TreeFilter::thread(ThreadId id) {
  if (index(id) >= threads_.size()) threads_.resize(index(id) + 1);
  return threads_[index(id)];
}

// --- accesses ---

std::size_t TreeFilter::Hash::operator()(const Key& k) const {
  const auto both = [](uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; };
  uint64_t h = 0;
  for (const uint64_t x : {k.address, k.life, k.history, both(k.thread, index(k.locks)), both(index(k.site), k.what)}) {
    h = (h ^ h >> 32 ^ x) * 0x9E3779B97F4A7C15U;
  }
  return h ^ h >> 32;
}

TreeRule TreeFilter::judge(const Event& e) {
  if (e.size > kVariableSize) return TooLong;  // too many lives to tell apart
  const Thread& t = thread(e.thread);
  const uint32_t me = index(e.thread) + 1;
  Seen& seen = seen_.at({e.target, life_of(e), t.history, options_.two_threads ? 0 : me, t.locks, e.site,
                         e.size << 1 | (e.op == Op::Write ? 1U : 0U)});
  for (uint32_t& who : seen.threads) {
    if (who == me) return SameThread;
    if (who == 0) {
      who = me;
      return Fresh;
    }
  }
  return TwoThreads;
}

// --- contexts ---

void TreeFilter::add_message(Thread& t, uint64_t message) {
  if (!options_.two_threads) {
    t.history = ++history_count_;
    return;
  }
  t.history = histories_.try_emplace({t.history, message}, histories_.size() + 1).first->second;
}

void TreeFilter::release(Thread& t, HeldLock lock) {
  t.locks = locksets_.without(t.locks, lock, heap_);
  if (options_.exact) add_message(t, kReleaseMessage);
}

void TreeFilter::send(Thread& t, uint64_t object) {
  last_message_[object] = ++messages_;
  add_message(t, messages_);
}

void TreeFilter::receive(Thread& t, uint64_t object) {
  if (const auto it = last_message_.find(object); it != last_message_.end()) add_message(t, it->second);
}

void TreeFilter::follow(const Event& e) {
  Thread& t = thread(e.thread);
  const HeldLock lock{e.target, e.op == Op::ReadAcquire || e.op == Op::ReadRelease ? LockMode::Read : LockMode::Write};
  switch (e.op) {
    case Op::Acquire:
    case Op::ReadAcquire: t.locks = locksets_.with(t.locks, lock, heap_); return;
    case Op::Release:
    case Op::ReadRelease: return release(t, lock);
    case Op::Fork:
    case Op::Join: return add_message(t, ++messages_);
    case Op::Notify:
    case Op::BarrierEnter:
    case Op::SemPost: return send(t, object_of(e));
    case Op::Wake:
    case Op::BarrierLeave:
    case Op::SemWait: return receive(t, object_of(e));
    case Op::Fence: return add_message(t, ++messages_);
    case Op::AtomicLoad:
    case Op::AtomicStore:
    case Op::AtomicRmw: return follow_atomic(t, e);
    case Op::Alloc:
    case Op::Free: return begin_life(e);
    default: return;
  }
}

void TreeFilter::follow_atomic(Thread& t, const Event& e) {
  if (e.op != Op::AtomicStore && acquires(e.order)) receive(t, object_of(e));
  if (e.op != Op::AtomicLoad) send(t, object_of(e));
}

// --- memory that is used again ---

// Odd numbers are the lives of blocks, even ones those of bytes that different blocks make up; 0: never allocated or freed.
uint64_t TreeFilter::life_at(uint64_t address) const {
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return 0;
  --it;
  return it->second.last < address ? 0 : it->second.life;
}

uint64_t TreeFilter::life_of(const Event& e) {
  if (blocks_.empty()) return 0;
  uint64_t life = life_at(e.target);
  for (uint64_t i = 1; i < e.size; ++i) {
    const uint64_t next = life_at(e.target + i);
    if (next == life && life % 2 == 1) continue;
    if (next == 0 && life == 0) continue;
    life = 2 * mixed_lives_.try_emplace({life, next, i}, mixed_lives_.size() + 1).first->second;
  }
  return life;
}

void TreeFilter::begin_life(const Event& e) {
  if (e.value == 0) return;
  const uint64_t room = std::numeric_limits<uint64_t>::max() - e.target;
  const uint64_t first = e.target, last = first + std::min(e.value, room) - 1;
  auto it = blocks_.upper_bound(last);
  while (it != blocks_.begin() && std::prev(it)->second.last >= first) {
    --it;
    const auto [begin, block] = *it;
    it = blocks_.erase(it);
    if (block.last > last) it = blocks_.insert_or_assign(last + 1, block).first;
    if (begin < first) blocks_[begin] = {first - 1, block.life};
  }
  blocks_[first] = {last, 2 * ++lives_ - 1};
}

}  // namespace pf
