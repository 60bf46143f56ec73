// The names of things. Glossary of the words that every room uses:
//
//   thread    one thread of the program, numbered once and never again (ThreadId)
//   slot      its place in a vector clock; a slot is used again by later threads (Slot)
//   site      where in the program an event happened (SiteId, an index into the site table)
//   epoch     one tick of one slot's clock, written c@s (epoch.h)
//   lockset   the locks a thread holds, interned so that a set is one number (lockset.h)
//   mark      an access that a detector remembers: its epoch and what it was (race.h)
//   chain     filters and one detector, as written on the command line: tree:fasttrack
//
// Core is freestanding: it allocates through the environment it is given, does no I/O and throws nothing,
// because the runtime inside the target process includes it.
#pragma once
#include <cstdint>

namespace pf {

enum class ThreadId : uint32_t {};
enum class Slot : uint32_t {};
enum class SiteId : uint32_t {};
enum class LocksetId : uint32_t {};

constexpr uint32_t index(ThreadId t) { return static_cast<uint32_t>(t); }
constexpr uint32_t index(Slot s) { return static_cast<uint32_t>(s); }
constexpr uint32_t index(SiteId s) { return static_cast<uint32_t>(s); }
constexpr uint32_t index(LocksetId l) { return static_cast<uint32_t>(l); }

inline constexpr SiteId kNoSite{0};
inline constexpr LocksetId kNoLocks{0};

}  // namespace pf
