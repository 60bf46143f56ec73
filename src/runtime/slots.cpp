#include "runtime/slots.h"

#include "runtime/memory.h"
#include "runtime/spin.h"

namespace pf::rt::slots {
namespace {

struct Tenure {
  OnlineEpoch from;
  ThreadId thread;
  Tenure* before;
};

struct Of {
  Tenure* latest;
  ClockEntry entry;
  uint32_t next;  // or 0
};
constinit Pieces<Of, 12, 1U << 20> g_slots;
constinit uint32_t g_first_count = 0, g_count = kFirst, g_entry_count = kFirst;
constinit Arena g_arena;
constinit SpinLock g_lock;

void add(OnlineEpoch from, ThreadId t) {
  Of& slot = g_slots[index(from.slot())];
  slot.latest = new (g_arena.allocate(sizeof(Tenure))) Tenure{from, t, slot.latest};
}

Slot add_slot(uint32_t i, ThreadId t, ClockEntry entry) {
  g_slots.provide(i);
  g_slots[i].entry = entry;
  if (i < kFew) g_entries[i] = entry;  // who meets the slot in a mark finds it there
  add({Slot{i}, 1}, t);
  return Slot{i};
}
Slot add_later_slot(ThreadId t, ClockEntry entry) {
  const Slot s = add_slot(g_count, t, entry);
  __atomic_store_n(&g_count, g_count + 1, __ATOMIC_RELEASE);
  return s;
}
Slot begin_entry(ThreadId t) {
  if (g_first_count == kFirst) return add_later_slot(t, {g_entry_count++, 0});
  const uint32_t i = g_first_count++;
  return add_slot(i, t, {i, 0});
}

}  // namespace

Slot fresh(ThreadId t) {
  const Guard guard(g_lock);
  return begin_entry(t);
}

// Of a detector with two orders, each asks: they go on in the same slot.
Slot next(Slot used_up, ThreadId t) {
  constexpr uint32_t kMost = ~uint32_t{0} - OnlineEpoch::kMaxClock;
  const Guard guard(g_lock);
  Of& before = g_slots[index(used_up)];
  if (before.next == 0) {
    const uint32_t counted = before.entry.before + OnlineEpoch::kMaxClock;
    before.next = index(counted <= kMost ? add_later_slot(t, {before.entry.index, counted}) : begin_entry(t));
  }
  return Slot{before.next};
}

ClockEntry far_entry(Slot s) { return g_slots[index(s)].entry; }

uint32_t count() { return __atomic_load_n(&g_count, __ATOMIC_RELAXED); }

void own(OnlineEpoch from, ThreadId t) {
  const Guard guard(g_lock);
  add(from, t);
}

ThreadId owner(OnlineEpoch e) {
  const Guard guard(g_lock);
  const Tenure* tenure = g_slots[index(e.slot())].latest;
  while (tenure->before != nullptr && tenure->from.clock() > e.clock()) tenure = tenure->before;
  return tenure->thread;
}

}  // namespace pf::rt::slots
