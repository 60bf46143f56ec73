// The contexts of one trial of CARISMA inside programs: a file in the run directory that all processes of the run map and add to, each
// context at a place of its own. `photofinish run` fills in what earlier trials say before the program starts, and adds up what is there
// when it has ended, however it ended: a process that is killed loses nothing that it has counted.
//
// All fields are read and written atomically by any number of threads and processes, and nobody ever waits: a context is there when
// its id is, and whoever finds its plan missing fills it in; all would write the same.
#pragma once
#include <cstdint>

#include "core/hash.h"
#include "filter/carisma_law.h"

namespace pf {

inline constexpr char kContextFile[] = "contexts";

struct ContextSlot {
  uint64_t id;  // 0: vacant
  uint64_t samples;
  uint64_t rate;  // of the plan, plus one; 0: no plan yet
  uint64_t draw;  // its other two: pause, and rate of locations above it

  static constexpr unsigned kPauseBits = 16;

  bool is_planned() const { return __atomic_load_n(&rate, __ATOMIC_ACQUIRE) != 0; }
  ContextPlan plan() const {
    const uint64_t both = __atomic_load_n(&draw, __ATOMIC_RELAXED);
    return {both >> kPauseBits, both & ((1U << kPauseBits) - 1), __atomic_load_n(&rate, __ATOMIC_RELAXED) - 1};
  }
  void set_plan(const ContextPlan& p) {
    __atomic_store_n(&draw, p.location_rate << kPauseBits | p.pause, __ATOMIC_RELAXED);
    __atomic_store_n(&rate, p.rate + 1, __ATOMIC_RELEASE);
  }
  void count() { __atomic_fetch_add(&samples, 1, __ATOMIC_RELAXED); }
};

struct ContextTable {
  static constexpr uint32_t kSlots = 1U << 17;
  static constexpr uint64_t kLongestPause =
      (1U << 12) - ContextPlan::kBurst;   // a cycle has 12 bits of a location's word
  static constexpr uint64_t kOthers = 1;  // the id of the contexts that found no place, together

  uint64_t seed;    // of all draws
  uint64_t draws;   // so many were made
  uint64_t opened;  // by so many processes
  uint64_t zero;
  ContextSlot slots[kSlots + 1];  // the last one is for the others

  // The place of the context, planned if it is new.
  uint32_t find(uint64_t id, const ContextPlan& if_new) {
    constexpr uint32_t kFar = 64;
    if (id <= kOthers) id = kOthers + 1;  // 0 is taken, too
    const auto first = static_cast<uint32_t>(hash_with(0, id));
    for (uint32_t i = 0; i < kFar; ++i) {
      if (take((first + i) % kSlots, id, if_new)) return (first + i) % kSlots;
    }
    take(kSlots, kOthers, if_new);
    return kSlots;
  }

 private:
  bool take(uint32_t i, uint64_t id, const ContextPlan& if_new) {
    ContextSlot& slot = slots[i];
    uint64_t seen = __atomic_load_n(&slot.id, __ATOMIC_ACQUIRE);
    if (seen == 0) __atomic_compare_exchange_n(&slot.id, &seen, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (seen != 0 && seen != id) return false;
    if (!slot.is_planned()) slot.set_plan(if_new);
    return true;
  }
};

}  // namespace pf
