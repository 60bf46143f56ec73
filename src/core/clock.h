// A vector clock that is shared until it changes.
//
// The first few entries are in the clock itself: a program of that many threads copies and joins clocks without memory of their own,
// whose count of owners threads would take out of each other's caches. The others are in a block. Copying that is one
// reference (O(1)), which is what a lock release does; the first change after that pays for the copy.
// Measured against deep copies, chunked sharing and tree clocks, this was fastest from 8 to 512 threads (docs/design.md).
// Absent entries are zero, so a clock is as long as the highest entry it has heard of and has no maximum.
// A slot's ticks are few bits in an epoch. A thread that has used up its slot goes on in the next one, and both have one entry, which
// counts on: however long threads run, clocks are as long as there are threads.
// Serialized by the caller: each clock. A block may be shared by clocks of several threads where the environment says
// kConcurrent; it changes only while one clock has it.
#pragma once
#include <bit>
#include <cstring>
#include <utility>

#include "core/env.h"

namespace pf {

template <class Env>
class VectorClock {
 public:
  using Clock = typename Env::Epoch::Clock;

  Clock get(Slot s) const {
    const auto [i, before] = Env::entry(s);
    return at(i) > before ? at(i) - before : 0;
  }
  // Hot: one load, or one of the block and one of the entry.
  bool covers(typename Env::Epoch e) const {
    const auto [i, before] = Env::entry(e.slot());
    return before + e.clock() <= at(i);
  }
  bool empty() const {
    Clock any = 0;
    for (const Clock c : near_) any |= c;
    return any == 0 && block_ == nullptr;
  }
  // It has no block, so a copy needs no more than to be made.
  bool is_small() const { return block_ == nullptr; }

  // Whether every entry of the other but one is covered.
  bool covers_except(const VectorClock& other, Slot except) const {
    const uint32_t left_out = Env::entry(except).index;
    for (uint32_t i = 0; i < kNear; ++i) {
      if (other.near_[i] > near_[i] && i != left_out) return false;
    }
    if (other.block_ == block_ || other.block_ == nullptr) return true;
    for (uint32_t i = 0; i < other.block_->size; ++i) {
      if (other.block_->at()[i] > far(i) && i + kNear != left_out) return false;
    }
    return true;
  }

  // Whether it was less.
  bool raise(Slot s, Clock c, Env& env) {
    const auto [i, before] = Env::entry(s);
    if (at(i) >= before + c) return false;
    if (i < kNear) {
      near_[i] = before + c;
      return true;
    }
    make_own(i - kNear + 1, env);
    block_->at()[i - kNear] = before + c;
    return true;
  }

  void join(const VectorClock& other, Env& env) {
    maximum(near_, near_, other.near_, kNear);
    if (other.block_ == block_ || other.block_ == nullptr) return;
    if (block_ == nullptr) return share(other.block_, env);
    join_entries(other.block_, env);
  }

  void assign(const VectorClock& other, Env& env) {
    for (uint32_t i = 0; i < kNear; ++i) near_[i] = other.near_[i];
    share(other.block_, env);
  }

  void clear(Env& env) {
    for (Clock& c : near_) c = 0;
    drop_block(env);
  }

 private:
  struct Block {
    uint32_t refs;
    uint32_t size;      // entries in use
    uint32_t capacity;  // entries there is room for, those past size are zero
    uint32_t padding;

    Clock* at() { return reinterpret_cast<Clock*>(this + 1); }  // the entries follow the header
  };

  static constexpr uint32_t kNear = 4;

  Clock at(uint32_t i) const { return i < kNear ? near_[i] : far(i - kNear); }
  // `i` counts from the first entry of the block.
  Clock far(uint32_t i) const { return block_ != nullptr && i < block_->size ? block_->at()[i] : 0; }

  void share(Block* theirs, Env& env) {
    if (theirs == block_) return;
    if (theirs != nullptr) retain(theirs);
    drop_block(env);
    block_ = theirs;
  }
  void drop_block(Env& env) {
    if (block_ != nullptr && let_go(block_)) env.deallocate(block_, bytes(block_->capacity));
    block_ = nullptr;
  }

  static void retain(Block* b) {
    if constexpr (Env::kConcurrent) {
      __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED);
    } else {
      ++b->refs;
    }
  }
  // Whether nobody has the block any more.
  static bool let_go(Block* b) {
    if constexpr (Env::kConcurrent) return __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) == 0;
    return --b->refs == 0;
  }
  bool is_own() const {
    if constexpr (Env::kConcurrent) return __atomic_load_n(&block_->refs, __ATOMIC_ACQUIRE) == 1;
    return block_->refs == 1;
  }

  static std::size_t bytes(uint32_t capacity) { return sizeof(Block) + capacity * sizeof(Clock); }

  // A block after a release is always shared, so the usual join copies and takes the maximum in one pass. The bounds are
  // locals, and the padding past size is zero, for the compiler's vector instructions.
  void join_entries(Block* other, Env& env) {
    if (is_own() && block_->capacity >= other->size) {
      maximum(block_->at(), block_->at(), other->at(), other->size);
      if (block_->size < other->size) block_->size = other->size;
      return;
    }
    const uint32_t common = block_->size < other->size ? block_->size : other->size;
    Block* longer = block_->size < other->size ? other : block_;
    Block* fresh = new_block(longer->size, env);
    maximum(fresh->at(), block_->at(), other->at(), common);
    fill(fresh, common, longer);
    drop_block(env);
    block_ = fresh;
  }

  static void maximum(Clock* to, const Clock* a, const Clock* b, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) to[i] = a[i] < b[i] ? b[i] : a[i];
  }

  // Afterwards the block is this clock's alone and has at least `size` entries.
  void make_own(uint32_t size, Env& env) {
    if (block_ != nullptr && is_own() && block_->capacity >= size) {
      if (block_->size < size) block_->size = size;
      return;
    }
    const uint32_t old_size = block_ != nullptr ? block_->size : 0;
    Block* fresh = new_block(old_size < size ? size : old_size, env);
    fill(fresh, 0, block_);
    drop_block(env);
    block_ = fresh;
  }

  // Capacities are powers of two, so that blocks are used again while clocks grow.
  [[gnu::noinline]] static Block* new_block(uint32_t size, Env& env) {
    const uint32_t capacity = size < 8 ? 8 : std::bit_ceil(size);
    auto* fresh = static_cast<Block*>(env.allocate(bytes(capacity)));
    *fresh = {1, size, capacity, 0};
    return fresh;
  }

  // The entries from `from` on are those of the other block, then zero.
  static void fill(Block* fresh, uint32_t from, Block* other) {
    const uint32_t end = other != nullptr ? other->size : 0;
    if (end > from) std::memcpy(fresh->at() + from, other->at() + from, (end - from) * sizeof(Clock));
    const uint32_t rest = end > from ? end : from;
    std::memset(fresh->at() + rest, 0, (fresh->capacity - rest) * sizeof(Clock));
  }

  Clock near_[kNear] = {};
  Block* block_ = nullptr;
};

}  // namespace pf
