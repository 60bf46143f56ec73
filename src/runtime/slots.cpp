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

constinit Pieces<Tenure*, 12, 1U << 20> g_latest;  // by slot
constinit uint32_t g_count = 0;
constinit Arena g_arena;
constinit SpinLock g_lock;

void add(OnlineEpoch from, ThreadId t) {
  const uint32_t i = index(from.slot());
  g_latest.provide(i);
  g_latest[i] = new (g_arena.allocate(sizeof(Tenure))) Tenure{from, t, g_latest[i]};
}

}  // namespace

Slot fresh(ThreadId t) {
  const Guard guard(g_lock);
  const Slot s{__atomic_fetch_add(&g_count, 1, __ATOMIC_RELAXED)};
  add({s, 1}, t);
  return s;
}

uint32_t count() { return __atomic_load_n(&g_count, __ATOMIC_RELAXED); }

void own(OnlineEpoch from, ThreadId t) {
  const Guard guard(g_lock);
  add(from, t);
}

ThreadId owner(OnlineEpoch e) {
  const Guard guard(g_lock);
  const Tenure* tenure = g_latest[index(e.slot())];
  while (tenure->before != nullptr && tenure->from.clock() > e.clock()) tenure = tenure->before;
  return tenure->thread;
}

}  // namespace pf::rt::slots
