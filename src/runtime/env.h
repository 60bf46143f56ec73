// The environment of rules inside the target: one per thread, so that rules take no lock for memory.
#pragma once
#include "core/env.h"
#include "core/race.h"
#include "runtime/groups.h"
#include "runtime/read_sets.h"
#include "runtime/slots.h"
#include "runtime/thread.h"

namespace pf::rt {

// An access to a granule as far as a rule can see it, and the report: where it is in the program, what it does to which bytes,
// and what its thread knows.
struct Deed {
  static constexpr unsigned kKnowledgeBits = 24;
  uintptr_t pc = 0;
  uint64_t context = 0;  // stack, held locks
  uint64_t what = 0;     // knowledge, operation and size, bytes of the granule

  Deed to(uint8_t bytes) const { return {pc, context, what | bytes}; }
  friend bool operator==(const Deed&, const Deed&) = default;
};

struct Outcome {
  uint64_t old[2], fresh[2];
  Deed deed;
};

struct OnlineEnv {
  using Epoch = WideEpoch;
  static constexpr bool kConcurrent = true;
  using ReadMap = ReadSet<OnlineEnv>;

  // An access is its number in the depot: stack, operation, size and held locks.
  struct Access {
    depot::Id id;
  };
  struct Found {
    Mark<OnlineEnv> prior;
    Verdict verdict;
    uintptr_t granule;
    uint8_t bytes;
  };

  void* allocate(std::size_t bytes) { return arena->allocate(bytes); }
  void deallocate(void* p, std::size_t bytes) { arena->deallocate(p, bytes); }
  Slot fresh_slot(ThreadId t) { return slots::fresh(t); }
  // By value: a variable whose address is taken cannot stay in registers.
  [[gnu::noinline, gnu::cold]] void race(Mark<OnlineEnv> prior, Verdict verdict = Verdict::Real) {
    if (found_count < kMaxFound) found[found_count++] = {prior, verdict, at & ~uintptr_t{7}, part};
  }
  // The bytes of the granule whose variable a rule is about to look at.
  void look_at(uint64_t bytes) { part = static_cast<uint8_t>(bytes); }
  void count(unsigned) {}  // a counter costs as much as the rule

  static constexpr unsigned kMaxFound = 32;  // at one access; more say nothing new
  Arena* arena = nullptr;
  SetStep set_steps[sets::kSteps] = {};

  // What a rule made of a granule, to be made of the next one that is like it: rules are pure functions.
  static constexpr unsigned kOutcomes = 64;
  Outcome outcomes[kOutcomes] = {};
  uint64_t knowledge = 1;  // counts whenever the thread learns or ticks: then outcomes are others

  // A deed has the low bits of the count: before they come again, all outcomes are forgotten.
  void learn() {
    if ((++knowledge & ((uint64_t{1} << Deed::kKnowledgeBits) - 1)) == 0) [[unlikely]]
      for (Outcome& o : outcomes) o = {};
  }
  uint64_t joined = 0;  // the set of readers that the last rule led to, as the store has it
  uintptr_t at = 0;     // in the granule being looked at
  uint8_t part = 0;
  unsigned found_count = 0;
  Found found[kMaxFound];
};
static_assert(Environment<OnlineEnv>);

}  // namespace pf::rt
