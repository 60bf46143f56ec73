// The memory that a call may touch: what its arguments point into and, word by word, what that points to (seed 004 §4.4.3). Whatever
// looks like a pointer is one.
//
//   heap block            all of it, and what its words point to
//   frame on a stack      of an instrumented function: all of it, likewise; of another thread's, as a whole
//   global                as the symbol tables have it, likewise; without a symbol, the module's data as a whole, not looked through
//   state of a library    a pointer into it stands for its data and that of the libraries it needs
//   thread-local, mapped  as a whole, not looked through: it may be gone by then
//
// What a piece of memory points to is kept with a hash of its content and taken again while that is the same: looking pointers up is what
// costs, not reading them. This is sound, whoever wrote there in between: the same words point to the same places. Only
// which block a place is in may have changed since, and that is asked again (of a block that was freed then as well: the same
// address may have become the next one's).
#pragma once
#include "runtime/thread.h"

namespace pf::rt::reach {

// Disjoint from all others but those that begin with it.
struct Piece {
  uintptr_t begin, end;
};

class Explorer;
Explorer* new_explorer();

void begin(Explorer& e, uintptr_t stack_pointer);  // below that, nothing of the thread's own stack is alive
// What a word points to.
void add_pointer(Explorer& e, Thread& t, uintptr_t word);
void add_heap_pointer(Explorer& e, Thread& t, uintptr_t word);  // if it points into the heap
// Memory as it is.
void add_memory(Explorer& e, const Piece& piece);
// And what these point to. False: more than we follow.
bool follow(Explorer& e, Thread& t);

const Piece* pieces(const Explorer& e);
uint32_t count(const Explorer& e);

// Mappings of the program come and go.
void mapped(uintptr_t begin, uintptr_t size);
void unmapped(uintptr_t begin, uintptr_t size);

// The piece that holds the address, if it can be in one.
bool piece_at(Thread& t, uintptr_t address, Piece& piece);

}  // namespace pf::rt::reach
