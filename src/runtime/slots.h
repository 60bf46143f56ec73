// Clock slots and the threads that had them, one after the other; reports ask whose an epoch was.
#pragma once
#include "core/env.h"
#include "core/epoch.h"

namespace pf::rt {

// A tick as a mark has room for it (compact.h); a thread whose clock has run out goes on in the next slot.
using OnlineEpoch = BasicEpoch<uint64_t, 22>;

}  // namespace pf::rt

namespace pf::rt::slots {

// Nobody had it before.
Slot fresh(ThreadId t);
// The same, after the other and, if that can count on, with its entry in vector clocks.
Slot next(Slot used_up, ThreadId t);
// All slots that somebody has had are below.
uint32_t count();

// The first slots begin an entry, of their number; where the entries are of all others that marks have room for, is a table.
inline constexpr uint32_t kFirst = 4, kFew = 512;
inline constinit ClockEntry g_entries[kFew] = {};
ClockEntry far_entry(Slot s);
inline ClockEntry entry(Slot s) {
  if (index(s) < kFirst) return {index(s), 0};
  return index(s) < kFew ? g_entries[index(s)] : far_entry(s);
}

// From this tick on the slot is t's.
void own(OnlineEpoch from, ThreadId t);
ThreadId owner(OnlineEpoch e);

}  // namespace pf::rt::slots
