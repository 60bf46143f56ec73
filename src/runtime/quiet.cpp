#include "runtime/quiet.h"

#include "runtime/registry.h"
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

constinit uint8_t g_counts[kBytes] = {};          // blocks with history; kMany: once that many, for ever
constinit uint8_t g_in_period[kBytes] = {};       // untouched or not, from the first period on
constinit const uint8_t* g_of_blocks = g_counts;  // what threads see that have no rest of their own
constinit SpinLock g_lock;
constinit uint32_t g_recording = 0;  // threads; guarded by g_lock
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

void disturb_block(uintptr_t address) {
  Block& b = block(address);
  if (__atomic_load_n(&b.has_history, __ATOMIC_ACQUIRE)) return;
  const Guard guard(g_lock);
  if (b.has_history) return;
  count(address, 1);
  __atomic_store_n(&b.has_history, true, __ATOMIC_RELEASE);  // then others need not count it
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
void start_in_child(bool records) { g_recording = records ? 1 : 0; }

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
  if (b.has_history && g_recording == 0) return true;
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
    __atomic_store_n(&b.has_history, false, __ATOMIC_RELAXED);
    count(address, -1);
    __atomic_store_n(&b.patience, 0, __ATOMIC_RELAXED);
  }
  g_lock.unlock();
}

}  // namespace pf::rt::quiet
