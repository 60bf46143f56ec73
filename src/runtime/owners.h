// Who changes the history of memory without a lock. Most memory is one thread's at a time, and then a locked instruction for every new
// access protects nothing, but costs as much as all the rest. So a thread that keeps changing what a block of memory has seen
// comes to own the block: nobody else changes anything there until it is everybody's again.
//
// To be at work is to say where, then to look whose it is (Visit), and both without a fence. Who makes a block another's therefore has
// every thread of the process pass a barrier, after it has announced the change: from then on, each thread sees the announcement, or is
// seen at work there, and is waited for. That takes microseconds of all processors, so it is done for who stays, for neighbours together, and
// not often; and each time that the next one came soon, it takes twice as much to own the block again.
//
// Nobody waits for another while it is at work, so these waits end: what is done in a Visit takes no lock that is held around one.
#pragma once
#include "runtime/chunks.h"
#include "runtime/thread.h"

namespace pf::rt::owners {

inline constexpr unsigned kBlockBits = 14;
inline constexpr uintptr_t kBlockBytes = uintptr_t{1} << kBlockBits;
inline constexpr uintptr_t kBlocksPerChunk = uintptr_t{1} << (kChunkBits - kBlockBits);

struct Block {
  static constexpr uint32_t kEverybody = 0, kChanging = 1U << 31;
  uint32_t owner;  // the number of a thread, with kChanging while that begins or ends
  // Who was seen here by itself, and how often; since when the block is owned, and how often that was over soon. Threads write it as they
  // come: it decides nothing but what is tried.
  uint16_t candidate, seen;
  uint32_t since, in_vain;
};
static_assert(sizeof(Block) * kBlocksPerChunk == kOwnersBytes);
inline constexpr unsigned kGroup = 16;  // neighbours, the first at a multiple of their size

// Gives the thread its number, when its pages are new.
void enlist(Thread& t);

// A change that needed a lock. Outside of Visits.
[[gnu::noinline]] void consider(Thread& t, Block& block);
inline void note_locked(Thread& t, Block& block) {
  constexpr uint32_t kNowAndThen = 64;  // threads that share a block hand it to each other by this
  if (++t.locked_changes % kNowAndThen == 0) consider(t, block);
}

// The block is everybody's, or becomes so.
[[gnu::noinline, gnu::cold]] void open_to_all(Block& block);

// While one lives, the thread may change the histories of the block: without a lock if it is its own. In a Scope, and one at a time.
class [[nodiscard]] Visit {
 public:
  Visit(Thread& t, Block& block) : thread_(t) {
    while (!begin(block)) [[unlikely]]
      open_to_all(block);
  }
  ~Visit() { __atomic_store_n(&thread_.at_work, nullptr, __ATOMIC_RELEASE); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  bool is_own() const { return is_own_; }

 private:
  [[gnu::always_inline]] bool begin(Block& block) {
    __atomic_store_n(&thread_.at_work, &block, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const uint32_t owner = __atomic_load_n(&block.owner, __ATOMIC_ACQUIRE);
    is_own_ = owner == thread_.number;
    if (is_own_ || owner == Block::kEverybody) [[likely]]
      return true;
    __atomic_store_n(&thread_.at_work, nullptr, __ATOMIC_RELEASE);
    return false;
  }

  Thread& thread_;
  bool is_own_ = false;
};

}  // namespace pf::rt::owners
