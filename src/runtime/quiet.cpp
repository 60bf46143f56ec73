#include "runtime/quiet.h"

#include <cstring>

#include "runtime/registry.h"
#include "runtime/spin.h"

namespace pf::rt::quiet {
namespace {

// Behind the cells of its chunk.
struct Block {
  uint8_t flags;     // change under g_lock
  uint8_t patience;  // searches in vain, of late: each doubles the wait for the next
  uint16_t looks;    // since the last search; a guess, since threads count it without a lock
};
static_assert(sizeof(Block) * (uintptr_t{1} << kChunkBits) / kBlock <= kBlocksBytes);

enum : uint8_t { kHasHistory = 1, kIsListed = 2 };  // the latter of a chunk, at its first block

constinit uint8_t g_counts[kBytes] = {};          // blocks with history; kMany: once that many, for ever
constinit uint8_t g_in_period[kBytes] = {};       // untouched or not, from the first period on
constinit const uint8_t* g_of_blocks = g_counts;  // what threads see that have no rest of their own
constinit SpinLock g_lock;
constinit uint32_t g_recording = 0;  // threads; guarded by g_lock
// Chunks with blocks that have history, by their addresses in the program. Guarded by g_lock.
constinit Pieces<uintptr_t, 9, 1U << 16> g_chunks;
constinit uint32_t g_chunk_count = 0;
constinit bool g_sweeping = false;
constexpr uint8_t kTouched = 1, kMany = 0xFE;
static_assert(kMany != kUntouched);
constexpr unsigned kLooks = 8, kMaxPatience = 9;

Block& block(uintptr_t address) {
  return reinterpret_cast<Block*>(chunk(address) + blocks_offset())[(address & kInChunk) / kBlock];
}
void count(uintptr_t address, int change) {
  uint8_t& blocks = g_counts[address / kBlock % kBytes];
  if (blocks != kMany) __atomic_store_n(&blocks, static_cast<uint8_t>(blocks + change), __ATOMIC_RELEASE);
}

// Who comes to be seen in between has it from the first, or is among all.
void show(const uint8_t* of_blocks) {
  __atomic_store_n(&g_of_blocks, of_blocks, __ATOMIC_RELAXED);
  registry::for_each([](Thread& t, void*) { be_seen_by(t); }, nullptr);
}

bool has_history(const Block& b) { return (__atomic_load_n(&b.flags, __ATOMIC_ACQUIRE) & kHasHistory) != 0; }
void set(Block& b, uint8_t flag) { __atomic_store_n(&b.flags, b.flags | flag, __ATOMIC_RELEASE); }
void unset(Block& b, unsigned flag) {
  __atomic_store_n(&b.flags, static_cast<uint8_t>(b.flags & ~flag), __ATOMIC_RELAXED);
}

void list_chunk(uintptr_t address) {
  Block& first = block(address & ~kInChunk);
  if ((first.flags & kIsListed) != 0) return;
  set(first, kIsListed);
  g_chunks.provide(g_chunk_count);
  g_chunks[g_chunk_count++] = address & ~kInChunk;
}

void disturb_block(uintptr_t address) {
  Block& b = block(address);
  if (has_history(b)) return;
  const Guard guard(g_lock);
  if (has_history(b)) return;
  list_chunk(address);
  count(address, 1);
  set(b, kHasHistory);  // then others need not count it
}

}  // namespace

constinit uint8_t g_nothing[kBytes] = {};

void be_seen_by(Thread& t) {
  const uint8_t* const of_blocks = __atomic_load_n(&g_of_blocks, __ATOMIC_RELAXED);
  __atomic_store_n(&t.quiet_blocks, of_blocks, __ATOMIC_RELEASE);
}

bool may_have_history(uintptr_t address) {
  return __atomic_load_n(&g_counts[address / kBlock % kBytes], __ATOMIC_RELAXED) != 0;
}

void set_period(bool on) {
  if (on && g_in_period[0] == 0) {
    for (uint8_t& byte : g_in_period) byte = kUntouched;
  }
  show(on ? g_in_period : g_counts);
}

void set_rest() { show(g_nothing); }

void touch(void* cell, uintptr_t address) {
  rt::touch(cell);
  rt::touch(&block(address));
  __atomic_store_n(&g_in_period[address / kBlock % kBytes], kTouched, __ATOMIC_RELAXED);
}

void begin_recording() {
  const Guard guard(g_lock);
  ++g_recording;
}
void end_recording() {
  const Guard guard(g_lock);
  --g_recording;
}
void start_in_child(bool records) {
  g_recording = records ? 1 : 0;
  g_sweeping = false;
}

void disturb(uintptr_t address) {
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
  if (has_history(b) && g_recording == 0) return true;
  g_lock.unlock();
  return false;
}

void end_search(uintptr_t address, bool has_history) {
  Block& b = block(address);
  if (has_history) {
    const unsigned patience = b.patience + 1U;
    __atomic_store_n(&b.patience, static_cast<uint8_t>(patience < kMaxPatience ? patience : kMaxPatience),
                     __ATOMIC_RELAXED);
  } else {
    unset(b, kHasHistory);
    count(address, -1);
    __atomic_store_n(&b.patience, 0, __ATOMIC_RELAXED);
  }
  g_lock.unlock();
}

namespace {

bool is_listed(uint32_t i, uintptr_t& chunk) {
  const Guard guard(g_lock);
  if (i >= g_chunk_count) return false;
  chunk = g_chunks[i];
  return true;
}

// f(address) for each block of the chunk that has history.
template <class F>
void for_each_with_history(uintptr_t chunk, F f) {
  for_each_touched_part(chunk, chunk + kInChunk + 1, blocks_offset(), kPage / sizeof(Block) * kBlock,
                        [&](uintptr_t from, uintptr_t to) {
                          for (uintptr_t at = from; at < to; at += kBlock) {
                            if (has_history(block(at))) f(at);
                          }
                        });
}

// Nothing in it has history, nor will before the lock is free: then it is off the list.
bool give_back_chunk(uint32_t i) {
  const Guard guard(g_lock);
  const uintptr_t chunk = g_chunks[i];
  bool has_some = g_recording != 0;
  if (!has_some) for_each_with_history(chunk, [&](uintptr_t) { has_some = true; });
  if (has_some) return false;
  g_chunks[i] = g_chunks[--g_chunk_count];
  unset(block(chunk), kIsListed);
  give_back_cells(chunk);
  std::memset(&g_in_period[chunk / kBlock % kBytes], kUntouched, (kInChunk + 1) / kBlock);
  return true;
}

}  // namespace

// All is forgotten before any block is searched: each has the history of the first bytes behind it, too.
bool sweep(Thread& t, const Forgetting& histories, bool gives_back) {
  if (__atomic_exchange_n(&g_sweeping, true, __ATOMIC_ACQUIRE)) return false;
  uintptr_t chunk = 0;
  for (uint32_t i = 0; is_listed(i, chunk); ++i)
    for_each_with_history(chunk, [&](uintptr_t at) { histories.forget(t, at); });
  for (uint32_t i = 0; is_listed(i, chunk);) {
    for_each_with_history(chunk, histories.search);
    if (!gives_back || !give_back_chunk(i)) ++i;
  }
  __atomic_store_n(&g_sweeping, false, __ATOMIC_RELEASE);
  return true;
}

}  // namespace pf::rt::quiet
