// Clock slots and the threads that had them, one after the other; reports ask whose an epoch was.
#pragma once
#include "core/epoch.h"

namespace pf::rt::slots {

Slot fresh(ThreadId t);  // nobody had it before
// From this tick on the slot is t's.
void own(WideEpoch from, ThreadId t);
ThreadId owner(WideEpoch e);

}  // namespace pf::rt::slots
