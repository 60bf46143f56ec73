#include "filter/tree.h"

#include <algorithm>
#include <limits>

#include "core/object.h"

namespace pf {
namespace {

constexpr std::size_t kEntryBytes = 64;  // of what was seen, with its share of the table

// Objects of different kinds may have the same id.
uint64_t object_of(const Event& e) { return e.target * 8 + static_cast<uint64_t>(object_kind(e.op)); }

}  // namespace

std::span<const Event> TreeFilter::pass(std::span<const Event> batch) {
  kept_.clear();
  for (const Event& e : batch) {
    if (e.op <= Op::Write) {
      if (redundant(e)) {
        ++dropped_;
        continue;
      }
    } else {
      follow(e);
    }
    kept_.push_back(e);
  }
  return kept_;
}

uint64_t TreeFilter::bytes() const {
  return (young_.size() + old_.size() + contexts_.size() + histories_.size()) * kEntryBytes;
}

TreeFilter::Thread& TreeFilter::thread(ThreadId id) {
  if (index(id) >= threads_.size()) threads_.resize(index(id) + 1);
  return threads_[index(id)];
}

// --- accesses ---

bool TreeFilter::redundant(const Event& e) {
  if (e.size > kVariableSize) return false;  // too many lives to tell apart
  const uint64_t kind = uint64_t{index(e.site)} << 32 | e.size << 1 | (e.op == Op::Write ? 1U : 0U);
  Seen& seen = look_up({e.target, kind, context(thread(e.thread), e.thread), life_of(e)});
  const uint32_t me = index(e.thread) + 1;
  for (uint32_t& who : seen.threads) {
    if (who == me) return true;
    if (who == 0) {
      who = me;
      return false;
    }
  }
  return options_.two_threads;
}

// What was seen of it so far; new entries go to the young generation, and an old one moves there when it is met again.
TreeFilter::Seen& TreeFilter::look_up(const Key& key) {
  if (const auto it = young_.find(key); it != young_.end()) return it->second;
  if (young_.size() * 2 * kEntryBytes >= options_.memory) {
    peak_bytes_ = peak_bytes();
    old_ = std::move(young_);
    young_ = {};
  }
  const auto old = old_.find(key);
  return young_.emplace(key, old != old_.end() ? old->second : Seen{}).first->second;
}

// --- contexts ---

uint64_t TreeFilter::context(Thread& t, ThreadId id) {
  if (t.context != 0) return t.context;
  const uint64_t owner = options_.two_threads ? 0 : index(id) + uint64_t{1};
  const Key key{t.history, owner, index(t.locks), options_.exact ? t.releases : 0};
  return t.context = contexts_.try_emplace(key, contexts_.size() + 1).first->second;
}

void TreeFilter::change_locks(Thread& t, LocksetId locks) {
  t.locks = locks;
  t.context = 0;
}

void TreeFilter::add_message(Thread& t, uint64_t message) {
  t.history = histories_.try_emplace(Key{t.history, message}, histories_.size() + 1).first->second;
  t.context = 0;
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
    case Op::ReadAcquire: return change_locks(t, locksets_.with(t.locks, lock, heap_));
    case Op::Release:
    case Op::ReadRelease: ++t.releases; return change_locks(t, locksets_.without(t.locks, lock, heap_));
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
    life = 2 * mixed_lives_.try_emplace(Key{life, next, i}, mixed_lives_.size() + 1).first->second;
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
