// CARISMA inside programs (filter/carisma.h has the idea, filter/carisma_law.h the law): a location is eight bytes, decided at its first
// access, and again when its memory begins a new life.
//
// The context of a location is the type of a thread, what it is, and where it came from:
//   heap    the thread that allocated the block; offset and size of a small block, the size class of a large one; the allocating calls
//   global  the first user's thread; the variable by its symbol, with the offset in a small one
//   stack   the thread it belongs to; others, as mapped memory, by the first user
// The type of a thread is its start routine and the place that created it (in C++ the routine is always the library's own). Places are known
// by file and offset (globals.h), so contexts are the same from run to run.
//
// A location has a word beside its cell: 0 not decided, or a context and the location's place in the context's cycle. The words cost half of
// the memory that was accessed; contexts are in a table that all processes of the run share (filter/context_table.h).
#pragma once
#include "core/event.h"
#include "runtime/chunks.h"
#include "runtime/depot.h"
#include "runtime/options.h"
#include "runtime/thread.h"

namespace pf::rt::carisma {

inline bool is_used() { return g_options.carisma; }
void start();

uint64_t thread_type(uintptr_t start_routine, depot::Id created_at);

// The word of a location: its context, from the second on, above its phase.
inline constexpr unsigned kPhaseBits = 12;
inline constexpr uint32_t kUndecided = 0, kNotSampled = 1U << kPhaseBits, kFirstContext = 2;
inline uint32_t& word_at(char* chunk, uintptr_t address) {
  return reinterpret_cast<uint32_t*>(chunk + words_offset())[granule_index(address)];
}

// Hot: whether the access is to one location, which is known not to be sampled. Two loads, one compare.
inline bool is_unsampled(uintptr_t address, uintptr_t size) {
  const uintptr_t distance = __atomic_load_n(&g_area.chunks[chunk_index(address)], __ATOMIC_RELAXED);
  const uint32_t& word = word_at(chunk_at(g_area, distance), address);
  return (address & 7) + size <= 8 && __atomic_load_n(&word, __ATOMIC_RELAXED) == kNotSampled;
}

// Whether the access is to a location that is sampled, and in its burst.
bool passes(Thread& t, Op op, uintptr_t address, uintptr_t size);
// The memory begins a new life.
void forget(uintptr_t address, uintptr_t size);
// It is unmapped: the same, and the words cost nothing any more.
void drop(uintptr_t address, uintptr_t size);

// How likely a run samples the location that is at the address, in parts of 2^32.
uint64_t chance_at(uintptr_t address);

}  // namespace pf::rt::carisma
