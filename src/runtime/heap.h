// Heap blocks: their size and who allocated them where, for reports; and the two moments that end and begin the history
// of their bytes.
#pragma once
#include "runtime/objects.h"
#include "runtime/thread.h"

namespace pf::rt::heap {

// The block is the program's from here on.
void allocated(Thread& t, const void* p, uintptr_t size, uintptr_t pc);
// About to be freed: a write to all of it.
void freeing(Thread& t, const void* p, uintptr_t pc);
// The block that holds the address, alive or freed. A small one, of less than kSmall bytes, is found soon; to look for a large one whose
// start is not remembered, as far back as it may be, is for reports only.
inline constexpr uintptr_t kSmall = uintptr_t{1} << 16;
bool find(uintptr_t address, Block& copy, uintptr_t farthest = uintptr_t{1} << 32);
// It was not freed after all (realloc without memory).
void kept(Thread& t, const void* p);

}  // namespace pf::rt::heap
