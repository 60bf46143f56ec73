// What a host provides to the rules it drives: memory, fresh clock slots, and ears for races and rule counts.
// Rules reach nothing else, so the same functions run offline on a trace and online inside the target.
#pragma once
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "core/epoch.h"

namespace pf {

// An access that a detector remembers. `Access` is the host's description (site, operation, size, locks);
// detectors copy it and never look inside.
template <class Env>
struct Mark {
  typename Env::Epoch epoch;
  typename Env::Access access;
};

// Where the clock of a slot is in a vector clock: which entry, and what that was when the slot began.
struct ClockEntry {
  uint32_t index;
  uint32_t before;
};

template <class Env>
constexpr bool have_one_entry(Slot a, Slot b) {
  return a == b || Env::entry(a).index == Env::entry(b).index;
}

template <class E>
concept Environment = requires(E& env, void* p, std::size_t n, ThreadId t, Slot s, const Mark<E>& prior, unsigned r) {
  typename E::Epoch;
  requires std::is_trivially_copyable_v<typename E::Access>;
  { E::kConcurrent } -> std::convertible_to<bool>;  // whether the host runs rules on several threads at once
  { env.allocate(n) } -> std::same_as<void*>;       // aligned to 16 bytes, never null
  env.deallocate(p, n);
  { env.fresh_slot(t) } -> std::same_as<Slot>;    // a slot nobody used before, now t's
  { env.next_slot(s, t) } -> std::same_as<Slot>;  // the same where t used up s; of its entry, if that can count on
  { E::entry(s) } -> std::same_as<ClockEntry>;
  env.race(prior);  // the access being processed races with this earlier one
  env.count(r);     // a rule of the detector fired
  env.settle();     // of a detector that settles: the variable is settled for what the thread is doing
};

}  // namespace pf
