// A lock, a condition or a barrier is memory, too: to make and to destroy one is a write to it, to use it is a read. So who uses it
// before it is made, or after it is gone, races.
//
// Only what instrumented code does counts. A use is told where the object itself orders it: before it is given up, after it is taken;
// then it is ordered with all others, and cheap. That alone would order the first use after the initialization, too, so
// each thread's first use is checked before it takes the lock, at bytes of its own.
#pragma once
#include "runtime/instrumented.h"
#include "runtime/intercept/intercept.h"

namespace pf::rt::lock_memory {

inline bool counts(const Thread& t, uintptr_t pc) { return (t.busy | t.inside) == 0 && is_instrumented(pc); }

template <class T>
void made_or_gone(Thread& t, T* object, uintptr_t pc) {
  if (counts(t, pc)) note_write(t, object, sizeof(T), pc);
}

template <class T>
void used(Thread& t, T* object, uintptr_t pc) {
  if (counts(t, pc)) note_read(t, object, 1, pc);
}

// What a thread's first use reads.
template <class T>
uintptr_t first_use_of(const volatile T* object) {
  return address_of(object) + (sizeof(T) > 8 ? 8 : 0);
}

template <class T>
void about_to_use(Thread& t, T* object, uintptr_t pc) {
  const uintptr_t address = address_of(object);
  uintptr_t& met = t.met_lock(address);
  if (met == address || !counts(t, pc)) return;
  met = address;
  note_read(t, reinterpret_cast<const char*>(first_use_of(object)), 1, pc);
}

}  // namespace pf::rt::lock_memory
