// The start of the runtime, and the end of its threads.
#pragma once

namespace pf::rt {

void initialize();  // once, on the main thread; later calls do nothing
// In a program that runs already, on a thread of it. The file has the environment that is meant for us. False: it is not for this process.
bool start_late(const char* environment_file);
void go_dormant();  // the end of that: nothing is reported any more, until the next start
bool is_dormant();

void end_at_thread_exit();  // arranges that this thread's end is seen
void leave_thread();        // the runtime has done with this thread: what still runs on it is not watched

bool is_own_process();      // not a child that shares our memory (vfork)
void become_own_process();  // a child with a copy of it (fork)
int exit_code();            // of a process that had reports and no supervisor
void watch_forks();         // process.cpp
void watch_traps();         // signal.cpp: from now on SIGTRAP is offered to the host first
void unwatch_traps();       // and no longer
void take_over_handlers();  // signal.cpp: of signals, as if they had been set through us
void give_handlers_back();  // but for SIGTRAP's

}  // namespace pf::rt
