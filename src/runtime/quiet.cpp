#include "runtime/quiet.h"

#include "runtime/spin.h"

namespace pf::rt::quiet {
namespace {

// Behind the cells of its chunk.
struct Block {
  bool has_history;  // changes under g_lock
  uint8_t patience;  // searches in vain, of late: each doubles the wait for the next
  uint16_t looks;    // since the last search; a guess, since threads count it without a lock
};
static_assert(sizeof(Block) * (uintptr_t{1} << kChunkBits) / kBlock <= kBlocksBytes);

constinit uint8_t g_counts[kBytes] = {};     // blocks with history; kMany: once that many, for ever
constinit uint8_t g_in_period[kBytes] = {};  // all ones, from the first period on
constinit uint8_t g_at_rest[kBytes] = {};    // never written
constinit SpinLock g_lock;
constexpr uint8_t kMany = 0xFF;
constexpr unsigned kLooks = 8, kMaxPatience = 9;

Block& block(uintptr_t address) {
  return reinterpret_cast<Block*>(chunk(address) + blocks_offset())[(address & kInChunk) / kBlock];
}
void count(uintptr_t address, int change) {
  uint8_t& blocks = g_counts[address / kBlock % kBytes];
  if (blocks != kMany) __atomic_store_n(&blocks, static_cast<uint8_t>(blocks + change), __ATOMIC_RELEASE);
}

void disturb_block(uintptr_t address) {
  Block& b = block(address);
  if (__atomic_load_n(&b.has_history, __ATOMIC_RELAXED)) return;
  const Guard guard(g_lock);
  if (b.has_history) return;
  __atomic_store_n(&b.has_history, true, __ATOMIC_RELAXED);
  count(address, 1);
}

}  // namespace

constinit const uint8_t* g_of_blocks = g_counts;

void set_period(bool on) {
  if (on && g_in_period[0] == 0) {
    for (uint8_t& byte : g_in_period) byte = 1;
  }
  const uint8_t* const of_blocks = on ? g_in_period : g_counts;
  __atomic_store_n(&g_of_blocks, of_blocks, __ATOMIC_RELEASE);
}

void set_rest() { __atomic_store_n(&g_of_blocks, static_cast<const uint8_t*>(g_at_rest), __ATOMIC_RELEASE); }

void disturb(uintptr_t address) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // the granule, then the flag
  disturb_block(address);
  if (address % kBlock < kLongestAccess && address >= kBlock) disturb_block(address - kBlock);
}

bool is_worth_a_search(uintptr_t address) {
  Block& b = block(address);
  const auto looks = static_cast<uint16_t>(__atomic_load_n(&b.looks, __ATOMIC_RELAXED) + 1);
  __atomic_store_n(&b.looks, looks, __ATOMIC_RELAXED);
  return looks >= kLooks << __atomic_load_n(&b.patience, __ATOMIC_RELAXED);
}

bool begin_search(uintptr_t address) {
  g_lock.lock();
  Block& b = block(address);
  __atomic_store_n(&b.looks, 0, __ATOMIC_RELAXED);
  if (!b.has_history) {
    g_lock.unlock();
    return false;
  }
  __atomic_store_n(&b.has_history, false, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // the flag, then the granules
  return true;
}

void end_search(uintptr_t address, bool has_history) {
  Block& b = block(address);
  if (has_history) {
    __atomic_store_n(&b.has_history, true, __ATOMIC_RELAXED);
    const unsigned patience = b.patience + 1U;
    __atomic_store_n(&b.patience, static_cast<uint8_t>(patience < kMaxPatience ? patience : kMaxPatience),
                     __ATOMIC_RELAXED);
  } else {
    count(address, -1);
    __atomic_store_n(&b.patience, 0, __ATOMIC_RELAXED);
  }
  g_lock.unlock();
}

}  // namespace pf::rt::quiet
