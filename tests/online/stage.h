// The stage that traces are played on: a library without instrumentation that keeps the order of turns and stands
// between the detector and libc, where it makes what blocks come back when the trace says so, and memory come from where
// the trace has it. The detector sees the program's calls, in this order, and nothing of the stage.
#pragma once
#include "online/script.h"

extern "C" {
extern char stage_arena[];

void stage_set(const pf::online::Step* steps, uint32_t count);  // for a trace; nobody else is on the stage
void stage_open();                                              // its first turn begins
void stage_await(uint32_t turn);
void stage_done(uint32_t turn);  // the next turn begins
// The next blocking call of this thread ends turn `entered` once it is inside, and comes back in turn `leave`.
void stage_block(uint32_t entered, uint32_t leave, int result);
void stage_place(void* p);  // the next allocation of this thread is there
uint64_t stage_peek(const void* p);
}
