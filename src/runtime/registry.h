// The threads of the program: who there is, by handle and by number; their birth and end.
#pragma once
#include "runtime/thread.h"

namespace pf::rt::registry {

// The main thread; called once, by the thread itself.
Thread* adopt_main();
// A thread that nobody announced (made by libc itself, or by a raw clone); called by the thread itself. It may be a notice.
Thread* adopt();
// The same for threads that were there before us, by the thread itself and without libc: what their stack is stays unknown.
Thread* adopt_running();
// The main thread may be one of those: it is known as what it is.
void expect_main();

// A thread about to be created by `parent`, from a call at pc.
// Threads that were announced and have not begun: for_each() does not know of them.
uint32_t announced();
Thread* announce(Thread& parent, uintptr_t pc);
void forget_announced(Thread& child);  // it could not be created

// On the new thread itself, then back on its way out.
void begin(Thread& t);
void end(Thread& t);

// Who has this handle; null if unknown. Ask before the handle is joined: it may belong to another thread afterwards.
Thread* by_handle(pthread_t handle);
void joined(Thread& t, Thread* child, pthread_t handle);  // t comes after all that the child did
void detached(Thread& t, pthread_t handle);

void set_name(Thread& t, const char* name);

// A fiber is a thread without a thread of the system.
Thread* new_fiber(Thread& t, uintptr_t pc);
void end_fiber(Thread& fiber);

ThreadInfo& info(uint32_t id);
uint32_t count();  // ever
// Calls f with each live thread; the registry is locked meanwhile.
void for_each(void (*f)(Thread&, void*), void* argument);

// No other thread is inside the runtime between these, and none gets in.
void close_gate(Thread& t);
void open_gate(Thread& t);
// In the child after a fork only `t` is left. The memory is the child's own from then on, so `t` comes after all that the others
// did to it before: told to the detector once that is the child's, too.
void only(Thread& t);
void outlive_others(Thread& t);

}  // namespace pf::rt::registry
