// The common past: epochs that whatever any thread does next comes after. What happened there can race with nothing any more, and a new
// thread knows what its parent does; so histories need not keep it (compact.h), and no racy access is lost.
//
// Each thread shows from time to time what it knows, for itself: later it knows no less, so what it showed last may be old but is never
// wrong. Now and then one of them looks at what all have shown: of each slot, what the least knowing one does is the common past.
//
// A thread that sleeps is not asked, or one that sleeps for long would keep everybody's history alive. In pthread_join it will know what the one
// it waits for does; in an endless pthread_cond_wait what the one who notifies it does, and that one is awake, or was woken up by one who is. So
// when it acts again it knows what all who are awake now do. It may be notified while the others are looked at, by somebody who learns more
// afterwards and shows that: so sleepers are looked at once more, last of all, and the look was in vain if one was told something.
// For the same reason it is if a thread was born meanwhile.
//
//   thread:  shows ──── is notified, learns ──── shows            look:  births ─▶ who sleeps, what others show ─▶ who sleeps, births ─▶ common
//
// What may act without being told is not counted on from then on: a sleeper in whose thread a handler of a signal runs, one that is cancelled, or is
// notified by another process or in secret. Handlers are expected where the program sets one, except for signals that end programs (is_last):
// almost every program has those, and they run once if at all. The first time that something acts without being told, a race of that with what
// all others knew before may be missed.
#pragma once
#include "runtime/slots.h"
#include "runtime/thread.h"

namespace pf::rt::past {

inline constexpr uint32_t kSlots = Thread::kShownSlots;  // of later ones nothing is common
using Clock = OnlineEpoch::Clock;

inline constinit Clock g_common[kSlots] = {};  // by slot, up to which tick; only grows

inline bool is_common(uint32_t slot, Clock clock) {
  return clock <= __atomic_load_n(&g_common[slot], __ATOMIC_RELAXED);
}

// --- by each thread ---

// Whenever it may know more than before: whether it is time to show that.
[[gnu::always_inline]] inline bool is_time_to_show(Thread& t) { return t.until_shown-- == 0; }
// It knows the slot's thread up to this tick.
inline void show(Thread& t, Slot s, Clock known) { __atomic_store_n(&t.shown[index(s)], known, __ATOMIC_RELEASE); }
inline uint32_t slots_to_show() {
  const uint32_t count = slots::count();
  return count < kSlots ? count : kSlots;
}
// It has shown all that; looks at the others, if nobody did so lately.
void look(Thread& t);

// --- what sleepers cannot be counted on for ---

void expect_handler(int signal);
void be_interrupted(const Thread& t);  // by a handler
void count_on_nobody();

}  // namespace pf::rt::past
