// The start of the runtime, and the end of its threads.
#pragma once

namespace pf::rt {

void initialize();          // once, on the main thread; later calls do nothing
void end_at_thread_exit();  // arranges that this thread's end is seen
void leave_thread();        // the runtime has done with this thread: what still runs on it is not watched

bool is_own_process();      // not a child that shares our memory (vfork)
void become_own_process();  // a child with a copy of it (fork)
int exit_code();            // of a process that had reports and no supervisor
void watch_forks();         // process.cpp
void watch_traps();         // signal.cpp: from now on SIGTRAP is offered to the host first

}  // namespace pf::rt
