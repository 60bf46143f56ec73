// Samples of a program that is not instrumented: `photofinish sample` plants breakpoints into its code (watch/sites.h), and here
// is who runs into them. Watching engines only.
#pragma once
#include <signal.h>
#include <ucontext.h>

#include "runtime/thread.h"
#include "watch/sites.h"

namespace pf::rt::planted {

// With a board in the environment. False: there is none, or it is another process's.
bool start(const char* board);
bool is_on();
// Whether somebody samples this process now: not if photofinish was killed.
bool is_sampled();
// No more samples. What breakpoints are left are taken out.
void stop();
// And no trap will come any more.
void leave();
// How many hardware breakpoints each thread has, and how many threads have none.
void tell_watching(unsigned breakpoints, unsigned unwatched);

// While one lives, photofinish knows that a thread is in the handler of traps.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  watch::Board* board_;
};

// What the instruction at a breakpoint is about to do.
struct Meeting {
  const watch::Site* site;
  uintptr_t pc, address;
  bool wanted;   // a sample is to be taken
  bool confirm;  // with a delay
};
// Whether the trap is a planted breakpoint. If so, the instruction is whole again, and next.
bool meet(const siginfo_t& info, ucontext_t& context, Meeting& meeting);

// The instruction that ends at this program counter, if it is one that accesses memory; and where it begins.
const watch::Site* site_before(uintptr_t pc, uintptr_t& begin);

// A clock race was found between these two instructions: to be sampled again, with a delay.
void confirm(uintptr_t one, uintptr_t other);
// That was done, at this one.
void tried(uintptr_t pc);
// It was seen to happen, or never will.
void confirmed(uintptr_t one, uintptr_t other);

// Processor time that went into samples, in nanoseconds.
void spend(uint64_t time);
// A data breakpoint trapped, which costs, too.
void count_trap();

// Code is about to be unloaded, and was.
void before_unloading();
void after_unloading();

// The calls that led to a place on this thread's stack, which the program does not announce, are known for as long as this lives.
class CallsAbove {
 public:
  CallsAbove(Thread& t, uintptr_t place);
  ~CallsAbove();
  CallsAbove(const CallsAbove&) = delete;
  CallsAbove& operator=(const CallsAbove&) = delete;

 private:
  Thread& thread_;
  unsigned count_ = 0;
};

}  // namespace pf::rt::planted
