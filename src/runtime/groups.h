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

// The last steps that a thread took.
struct Step {
  Code from, with, to;
  uint16_t bytes;  // of both
};
inline constexpr unsigned kSteps = 1024;

inline unsigned place(Code of, uint8_t bytes, Code with, uint8_t with_bytes) {
  return ((of * 31 + with) * 0x9E3779B9U ^ (bytes * 256U + with_bytes) * 0x85EBCA6BU) >> 22;
}

// `of` for its bytes, then `with` for the others': where both have a byte, the latter. kNone when there is no room.
[[gnu::noinline]] Code combine_anew(Code of, uint8_t bytes, Code with, uint8_t with_bytes, Step* steps);
inline Code combine(Code of, uint8_t bytes, Code with, uint8_t with_bytes, Step* steps) {
  if (of == with || (bytes & ~with_bytes) == 0) return with;
  const Step& s = steps[place(of, bytes, with, with_bytes)];
  if (s.from == of && s.with == with && s.bytes == (bytes | with_bytes << 8)) return s.to;
  return combine_anew(of, bytes, with, with_bytes, steps);
}

}  // namespace pf::rt::groups
