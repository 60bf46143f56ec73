// Memory without history, which is almost all of it for a detector that samples: between its periods (PACER), an access to such memory
// has nothing to record and nothing to race with, and this is known from one byte, without its thread, its cell or its chunk.
//
//   Thread::quiet_blocks ─▶ ┌ byte of block 0 ┬ of block 1 ┬ …   blocks whose numbers end alike share one; 0: none of them has history
//                           └ in a period: none is 0; for who knows all that was sampled (rest.h): all zero
//
// A block, of 256 bytes, has history while one of its granules, or of the 16 bytes behind it, has: so a byte answers for every access that
// begins in the block. Granules get history in a period, and lose it one by one later; so a block that is looked at in vain again and
// again is searched, and let go when nothing is left.
//
// Whoever gave a granule history then looks for the flag of its block. It does so without a fence, for a flag is taken away only while
// nobody may give anything history: so a byte of 0 is never wrong about what came before.
//
// What everybody knows is forgotten all at once when there is rest, so that what is kept is what was sampled of late.
//
// To read memory of ours before it was ever written is to be given a page of zeros, which the first write takes away again, from all
// processors at once: that costs as much as hundreds of accesses. So in a period the bytes tell what was never written, too.
#pragma once
#include "runtime/chunks.h"
#include "runtime/thread.h"

namespace pf::rt::quiet {

inline constexpr uintptr_t kBytes = uintptr_t{1} << 18;
inline constexpr uintptr_t kBlock = uintptr_t{1} << kHistoryBlockBits;
inline constexpr uintptr_t kLongestAccess = 16;
// Never written. No constant, for those are pages of a file: these are all the one page of zeros, and take no more of the caches than that.
extern uint8_t g_nothing[kBytes];

// What a byte is.
enum : uint8_t { kQuiet = 0, kUntouched = 0xFF };

[[gnu::always_inline]] inline uint8_t look(const Thread& t, uintptr_t address) {
  const uint8_t* of_blocks = __atomic_load_n(&t.quiet_blocks, __ATOMIC_RELAXED);
  return __atomic_load_n(&of_blocks[address / kBlock % kBytes], __ATOMIC_RELAXED);
}
// Hot: two loads, one compare.
[[gnu::always_inline]] inline bool is_quiet(const Thread& t, uintptr_t address) { return look(t, address) == kQuiet; }

// The same of any number of bytes.
inline bool are_quiet(const Thread& t, uintptr_t address, uintptr_t size) {
  const uint8_t* of_blocks = __atomic_load_n(&t.quiet_blocks, __ATOMIC_ACQUIRE);
  if (of_blocks == g_nothing) return true;
  for (uintptr_t block = address / kBlock; block <= (address + size - 1) / kBlock; ++block) {
    if (__atomic_load_n(&of_blocks[block % kBytes], __ATOMIC_RELAXED) != 0) return false;
  }
  return true;
}
// Whether the block may have history, whoever knows of that.
bool may_have_history(uintptr_t address);

// A period begins or ends.
void set_period(bool on);
// Until then, no history matters: to anybody, or to one thread.
void set_rest();
inline void set_rest_of(Thread& t) { __atomic_store_n(&t.quiet_blocks, &g_nothing[0], __ATOMIC_RELEASE); }
inline bool is_at_rest(const Thread& t) { return __atomic_load_n(&t.quiet_blocks, __ATOMIC_ACQUIRE) == &g_nothing[0]; }
// A new thread; once others can find it.
void be_seen_by(Thread& t);

// In a period: writes to the cell of the address, and leaves it as it is, if its block was untouched.
[[gnu::noinline]] void touch(void* cell, uintptr_t address);
[[gnu::always_inline]] inline void be_touched(const Thread& t, void* cell, uintptr_t address) {
  if (look(t, address) == kUntouched) [[unlikely]]
    touch(cell, address);
}

// The thread may give granules history from now on, or does so no more (rest.h).
void begin_recording();
void end_recording();
void start_in_child(bool records);
// The granule at the address has history now.
void disturb(uintptr_t address);

// An access found none in a block that is not quiet. Whether that was often enough for a search.
bool is_worth_a_search(uintptr_t address);

// Whether the block may lose its flag: then the search, and its end. One search at a time, and nobody begins to record meanwhile.
bool begin_search(uintptr_t address);
void end_search(uintptr_t address, bool has_history);

// What can be done about the history of a block: some of it is forgotten; and it is searched, as above.
struct Forgetting {
  void (*forget)(Thread& t, uintptr_t block);
  void (*search)(uintptr_t block);
};
// Both of each block with history; and if asked for, the pages of chunks that have none left are given back. False: somebody else is at it.
bool sweep(Thread& t, const Forgetting& histories, bool gives_back);

}  // namespace pf::rt::quiet
