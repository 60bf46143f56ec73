// Turns a trace of the generator into one that a program can run, and into the script for it.
//
// The trace keeps its order. What is added: a wait needs a mutex that the generator's event lacks, so each waits
// with one of the thread's own, or, where the trace lets go of a mutex right before and takes it right after, with that one;
// a recursive mutex is now and then taken twice. In every other trace accesses get other sizes, and blocks are moved by realloc to a
// place that nobody else knows, and back. What an event leaves open (which function makes it, what kind of lock it is, how a
// thread ends) is drawn from the event's site.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/event.h"
#include "online/script.h"

namespace pf::online {

struct Play {
  std::vector<Event> trace;  // what really happens: the truth to compare with
  std::vector<Step> steps;   // one per event
  Cast cast{};
  std::vector<ThreadId> created;  // in this order
  unsigned accesses = 0;          // sites that it needs

  std::optional<uint64_t> lock_of(uint32_t number) const;  // the trace's name of a lock of the player
};

// Nothing for a trace that no program can run: one that is not tidy, or takes what was never posted.
// Its sites begin at `first_site`; `seed` chooses the kinds of its locks.
std::optional<Play> realize(std::span<const Event> trace, uint64_t seed, uint32_t first_site);

// Where the arena has an address of a trace.
uint32_t arena_offset(uint64_t address);

}  // namespace pf::online
