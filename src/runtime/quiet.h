// Memory without history, which is almost all of it for a detector that samples: between its periods (PACER), an access to such memory
// has nothing to record and nothing to race with, and this is known from one byte, without its thread, its cell or its chunk.
//
//   Thread::quiet_blocks ─▶ ┌ byte of block 0 ┬ of block 1 ┬ …   blocks whose numbers end alike share one; 0: none of them has history
//                           └ in a period: all ones; for who knows all that was sampled (rest.h): all zero
//
// A block, of 256 bytes, has history while one of its granules, or of the 16 bytes behind it, has: so a byte answers for every access that
// begins in the block. Granules get history in a period, and lose it one by one later; so a block that is looked at in vain again and
// again is searched, and let go when nothing is left.
//
// Whoever gave a granule history then looks for the flag of its block; whoever takes a flag away then looks at all granules, before
// the byte changes. One of them sees what the other did, so a byte of 0 is never wrong about what came before.
#pragma once
#include "runtime/chunks.h"
#include "runtime/thread.h"

namespace pf::rt::quiet {

inline constexpr uintptr_t kBytes = uintptr_t{1} << 18;
inline constexpr uintptr_t kBlock = uintptr_t{1} << kHistoryBlockBits;
inline constexpr uintptr_t kLongestAccess = 16;
extern const uint8_t g_nothing[kBytes];

// Hot: two loads, one compare.
[[gnu::always_inline]] inline bool is_quiet(const Thread& t, uintptr_t address) {
  const uint8_t* of_blocks = __atomic_load_n(&t.quiet_blocks, __ATOMIC_RELAXED);
  return __atomic_load_n(&of_blocks[address / kBlock % kBytes], __ATOMIC_RELAXED) == 0;
}

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

// The granule at the address has history now.
void disturb(uintptr_t address);

// An access found none in a block that is not quiet. Whether that was often enough for a search.
bool is_worth_a_search(uintptr_t address);

// Takes the block's flag; false: it has none. Then the search, and either of the others. One search at a time.
bool begin_search(uintptr_t address);
void end_search(uintptr_t address, bool has_history);

}  // namespace pf::rt::quiet
