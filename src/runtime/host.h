// What the detector's side of the runtime does for the rest of it: interceptors and annotations call these, whatever the
// detector is. One library per detector has its own set (online_host.h); calls are direct.
//
// All take the current thread. They may be called with the runtime busy or not, never with a Line held.
#pragma once
#include "core/periods.h"
#include "runtime/library_calls.h"
#include "runtime/say.h"
#include "runtime/thread.h"

namespace pf::rt::host {

void start();                    // once options are known, before the first thread
void start_in_child();           // after a fork
void put_statistics(Text& out);  // more fields of the summary
void interrupted(Thread& t);     // a handler of a signal runs, perhaps between an access and its announcement
void resumed(Thread& t);         // and is over, perhaps between the announcement of a release and the release
// Whether a SIGTRAP is none of the program's business, since a breakpoint of ours raised it.
bool trapped(const siginfo_t& info, ucontext_t& context);

// --- threads ---
Thread* new_thread(Thread* parent, ThreadInfo* info);  // ordered after its parent so far; null parent: after nothing
void end(Thread& t);                                   // its clock slot may go to a later thread
void join(Thread& t, Thread& child);                   // everything the child did comes before
void destroy(Thread& child);                           // nobody will join it any more
ClockOperations clock_operations(Thread& t);           // of a detector that samples

// --- locks, by address ---
void acquire(Thread& t, uintptr_t lock, LockMode mode);
void release(Thread& t, uintptr_t lock, LockMode mode);

// --- condition variables, barriers ---
void wait(Thread& t, uintptr_t condition);
void wake(Thread& t, uintptr_t condition, bool by_notice);
void notify(Thread& t, uintptr_t condition, bool all);
void barrier_enter(Thread& t, uintptr_t barrier);
void barrier_leave(Thread& t, uintptr_t barrier);

// --- anything else that orders: what was posted at an address comes before what takes from it later ---
void post(Thread& t, uintptr_t address);
void take(Thread& t, uintptr_t address);
void fence(Thread& t, int order);
// The same for atomics that the program reads and somebody without instrumentation writes: a release, an acquire.
void release_atomic(Thread& t, uintptr_t address);
void acquire_atomic(Thread& t, uintptr_t address);

// --- calls into code without instrumentation (library_calls.h), and what they call back ---
void begin_library(Thread& t, library::Call& call);
void end_library(Thread& t, library::Call& call);
void begin_callback(Thread& t, library::Call& call);
void end_callback(Thread& t, library::Call& call);

// --- memory ---
void access(Thread& t, uintptr_t address, uintptr_t size, bool write, uintptr_t pc);
void begin_block(Thread& t, uintptr_t address, uintptr_t size);  // a new life: what was before is forgotten
// Whether the end of a block of up to that size is anything to the detector; where it is not, it need not be told.
bool is_end_noticed(uintptr_t address, uintptr_t most);
void end_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc);  // a write to all of it, and its end
// The same, for memory that nobody can use afterwards: only what was ever accessed costs anything.
void drop_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc);
void forget_object(Thread& t, uintptr_t address);  // a lock was destroyed

}  // namespace pf::rt::host
