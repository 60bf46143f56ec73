// Heap blocks: their size and who allocated them where, for reports; and the two moments that end and begin the history
// of their bytes.
#pragma once
#include "runtime/thread.h"

namespace pf::rt::heap {

// The block is the program's from here on.
void allocated(Thread& t, const void* p, uintptr_t size, uintptr_t pc);
// About to be freed: a write to all of it. Returns its size, 0 for a block we have not seen.
uintptr_t freeing(Thread& t, const void* p, uintptr_t pc);
// It was not freed after all (realloc without memory).
void kept(Thread& t, const void* p);

}  // namespace pf::rt::heap
