// The CPU's data breakpoints over all threads of this process, by perf events that raise SIGTRAP in the thread that made the
// access, right after it. No rights are needed for one's own process.
//
// One event per breakpoint is opened on the first thread; the kernel gives a copy to every thread that is created from then on,
// and changes all copies when the event is changed: four descriptors in all, whatever the number of threads. Threads that
// were there before need adopt(). (Events for whole CPUs would cost the same however many threads there are, but
// they need CAP_PERFMON and trap in other processes as well.)
//
// Inside the target: raw system calls only, no memory of the program's, async-signal-safe. Whoever calls arm() and disarm() for an
// index owns it at that time (slots.h sees to that). The handler of SIGTRAP is the host's: it asks decode().
#pragma once
#include <signal.h>

#include <cstdint>

namespace pf::watch {

inline constexpr unsigned kBreakpoints = 4;  // that an x86-64 CPU has

enum class On : uint8_t { Write, Access };  // there are none for reads alone

struct Trap {
  uint64_t tag;  // as arm() was given it
  uintptr_t address;
};

namespace breakpoints {

// Of the four, no more than so many from the next open() on: each thread that has to be adopted takes as many descriptors.
void limit(unsigned most);
// Opens as many as there are, for the calling thread and all that will be created. None: `why` is the kernel's error number.
struct Opened {
  unsigned count;
  int why;
};
Opened open();
// The same for a thread of this process that was there before open(), and the threads that it will create.
bool adopt(int thread_id);
// Gives them all back.
void close();
// In the child of a fork: its descriptors are still the parent's events. Threads it has none but the calling one.
Opened open_in_child();

// How many there are now.
unsigned count();

// From its return on, accesses to [address, address + length) trap in all threads, this one included. The length is 1, 2, 4 or
// 8, the address a multiple of it. A trap carries the tag. False: the descriptor is not ours any more, since the program closed it.
bool arm(unsigned index, uintptr_t address, unsigned length, On on, uint64_t tag);
bool disarm(unsigned index);

// Whether a SIGTRAP is one of ours. Those that come late, since the thread had the signal blocked, are `late`: who knows what the
// thread has done since. A tag of a breakpoint changed meanwhile may be the new one: the address is that of the access.
enum class Signal : uint8_t { NotOurs, Late, Now };
Signal decode(const siginfo_t& info, Trap& trap);

}  // namespace breakpoints
}  // namespace pf::watch
