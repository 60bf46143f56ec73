// Which access touched which byte of a granule, when one thread touched it from several places in one epoch: patterns of up to eight
// accesses, each stored once. There are as many as the code has ways to fill eight bytes, whatever the size of the data. Four of five are of two
// accesses, and those are not stored: their code has the number of the two, and a bit for each byte.
//
//   access   ┌ 0 ┬ depot number, 21 ─────────────────────────────────────┐
//   duo      ┌ 1 ┬ 1 ┬ number of the two, 12 ┬ bytes of the second, 8 ───┐
//   pattern  ┌ 1 ┬ 0 ┬ number, 20 ───────────────────────────────────────┐
//
// Depot numbers too large for that are codes of their own. Thread-safe; patterns and duos are never freed.
#pragma once
#include "runtime/depot.h"

namespace pf::rt::groups {

using Code = uint32_t;
inline constexpr unsigned kCodeBits = 22;
inline constexpr Code kPattern = 1U << (kCodeBits - 1);  // set in the code of a pattern
inline constexpr Code kDuo = kPattern | kPattern >> 1;   // set in the code of a duo
inline constexpr Code kLarge = 1U << 31;                 // set in the code of an access with a large number
inline constexpr Code kNone = ~Code{0};                  // no code

inline Code code_of(depot::Id access) { return access < kPattern ? access : access | kLarge; }

// The access of one byte of those that the code is for.
depot::Id access_at(Code code, unsigned byte);

// `of` for its bytes, then `with` for the others': where both have a byte, the latter. Both are codes of 22 bits. kNone when
// there is no room.
[[gnu::noinline]] Code combine_anew(Code of, uint8_t bytes, Code with, uint8_t with_bytes);

// --- two accesses ---

struct Two {
  Code first, second;  // the lesser one first
};
inline constexpr unsigned kTwoBits = 12;
extern Two g_twos[1U << kTwoBits];

inline bool is_access(Code code) { return (code & kPattern) == 0; }
inline bool is_duo(Code code) { return (code & kDuo) == kDuo; }
inline Two two_of(Code duo) {
  const Two& two = g_twos[duo >> 8 & ((1U << kTwoBits) - 1)];
  return {__atomic_load_n(&two.first, __ATOMIC_RELAXED), __atomic_load_n(&two.second, __ATOMIC_RELAXED)};
}
inline Code with_bytes_of_second(Code duo, unsigned bytes) { return (duo & ~0xFFU) | bytes; }

// The number of two accesses, below them. An entry stays where it is; those that may be in one bucket, a line of the cache, are found by a look at
// that, and where it is full, others have no number.
struct alignas(64) Bucket {
  uint64_t entries[8];
};
inline constexpr unsigned kTwoBucketsBits = kTwoBits - 2;
extern Bucket g_two_buckets[1U << kTwoBucketsBits];

inline uint64_t key_of(Two two) { return (uint64_t{two.first} << (kCodeBits - 1) | two.second) << kTwoBits; }
inline Bucket& bucket_of(uint64_t key) { return g_two_buckets[key * 0x9E3779B97F4A7C15U >> (64 - kTwoBucketsBits)]; }
// 0 if they have none.
inline uint32_t number_of(uint64_t key) {
  for (const uint64_t& entry : bucket_of(key).entries) {
    const uint64_t there = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
    if ((there ^ key) >> kTwoBits == 0) return static_cast<uint32_t>(there) & ((1U << kTwoBits) - 1);
    if (there == 0) break;
  }
  return 0;
}
// Of two different accesses; kNone if they have no number.
inline Code duo_of(Code one, unsigned of_one, Code other, unsigned of_other) {
  const bool is_in_order = one < other;
  const uint32_t number = number_of(key_of(is_in_order ? Two{one, other} : Two{other, one}));
  return number == 0 ? kNone : kDuo | number << 8 | (is_in_order ? of_other : of_one);
}

// What combine() says, if it takes no more than two accesses and their number is known. The bytes are not the same ones.
inline Code combine_two(Code of, unsigned bytes, Code with, unsigned with_bytes) {
  if (is_access(of) && is_access(with)) return duo_of(of, bytes, with, with_bytes);
  if (is_duo(of) && is_access(with)) {
    const Two two = two_of(of);
    const unsigned second = of & bytes, first = bytes & ~of;
    if (with == two.first) return second == 0 ? with : with_bytes_of_second(of, second);
    if (with == two.second) return first == 0 ? with : with_bytes_of_second(of, second | with_bytes);
    if (second == 0) return duo_of(two.first, first, with, with_bytes);
    return first == 0 ? duo_of(two.second, second, with, with_bytes) : kNone;
  }
  if (is_access(of) && is_duo(with)) {
    const Two two = two_of(with);
    const unsigned second = with & with_bytes;
    if (of == two.first) return with_bytes_of_second(with, second);
    return of == two.second ? with_bytes_of_second(with, second | bytes) : kNone;
  }
  const bool are_same_two = is_duo(of) && is_duo(with) && ((of ^ with) & ~0xFFU) == 0;
  return are_same_two ? with_bytes_of_second(of, (of & bytes) | (with & with_bytes)) : kNone;
}

// --- any number ---

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
  if (const Code duo = combine_two(of, bytes & ~with_bytes, with, with_bytes); duo != kNone) return duo;
  const uint64_t key = key_of(of, bytes, with, with_bytes), hash = hash_of(key);
  const Step& s = g_steps[hash >> (64 - kStepBits)];
  const uint64_t checked = __atomic_load_n(&s.checked, __ATOMIC_RELAXED);
  if (__atomic_load_n(&s.key, __ATOMIC_RELAXED) == key && static_cast<uint32_t>(hash) == checked >> 32)
    return static_cast<Code>(checked);
  return combine_anew(of, bytes, with, with_bytes);
}

}  // namespace pf::rt::groups
