// Clock slots and the threads that had them, one after the other; reports ask whose an epoch was.
#pragma once
#include "core/epoch.h"

namespace pf::rt {

// A tick as a mark has room for it (compact.h); a thread whose clock has run out goes on in a fresh slot.
using OnlineEpoch = BasicEpoch<uint64_t, 22>;

}  // namespace pf::rt

namespace pf::rt::slots {

Slot fresh(ThreadId t);  // nobody had it before
uint32_t count();        // of slots that somebody has had
// From this tick on the slot is t's.
void own(OnlineEpoch from, ThreadId t);
ThreadId owner(OnlineEpoch e);

}  // namespace pf::rt::slots
