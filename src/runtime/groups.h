// Which access touched which byte of a granule, when one thread touched it from several places in one epoch: patterns of up to eight
// accesses, each stored once. There are as many as the code has ways to fill eight bytes, whatever the size of the data.
//
// A code is an access (its depot number) or a pattern; numbers too large for 22 bits are codes of their own. Thread-safe;
// patterns are never freed.
#pragma once
#include "runtime/depot.h"

namespace pf::rt::groups {

using Code = uint32_t;
inline constexpr unsigned kCodeBits = 22;
inline constexpr Code kPattern = 1U << (kCodeBits - 1);  // set in the code of a pattern
inline constexpr Code kLarge = 1U << 31;                 // set in the code of an access with a large number
inline constexpr Code kNone = ~Code{0};                  // no code

inline Code code_of(depot::Id access) { return access < kPattern ? access : access | kLarge; }

// The access of one byte of those that the code is for.
depot::Id access_at(Code code, unsigned byte);

// `of` for its bytes, then `with` for the others': where both have a byte, the latter. Both are codes of 22 bits. kNone when
// there is no room.
[[gnu::noinline]] Code combine_anew(Code of, uint8_t bytes, Code with, uint8_t with_bytes);

// The last such steps, of all threads. No lock: a step that another thread is just writing does not pass its check.
struct Step {
  uint64_t key, checked;  // the code, and in the upper half something of the key
};
inline constexpr unsigned kStepBits = 17;
extern Step g_steps[1U << kStepBits];

inline uint64_t key_of(Code of, uint8_t bytes, Code with, uint8_t with_bytes) {
  return uint64_t{of} << 38 | uint64_t{with} << 16 | unsigned{bytes} << 8 | with_bytes;
}
inline uint64_t hash_of(uint64_t key) { return (key ^ key >> 31) * 0x9E3779B97F4A7C15U; }

inline Code combine(Code of, uint8_t bytes, Code with, uint8_t with_bytes) {
  if (of == with || (bytes & ~with_bytes) == 0) return with;
  const uint64_t key = key_of(of, bytes, with, with_bytes), hash = hash_of(key);
  const Step& s = g_steps[hash >> (64 - kStepBits)];
  const uint64_t checked = __atomic_load_n(&s.checked, __ATOMIC_RELAXED);
  if (__atomic_load_n(&s.key, __ATOMIC_RELAXED) == key && static_cast<uint32_t>(hash) == checked >> 32)
    return static_cast<Code>(checked);
  return combine_anew(of, bytes, with, with_bytes);
}

}  // namespace pf::rt::groups
