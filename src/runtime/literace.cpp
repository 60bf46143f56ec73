#include "runtime/literace.h"

#include "core/hash.h"
#include "runtime/options.h"
#include "runtime/sampler.h"

namespace pf::rt::literace {
namespace {

BurstLaw law() { return {g_options.burst, !g_options.has_filter_seed || g_options.filter_seed != 0}; }

Function& slot_of(const Bursts& b, uintptr_t pc) {
  for (auto i = static_cast<uint32_t>(hash_with(0, pc));; ++i) {
    Function& f = b.functions[i & (b.capacity - 1)];
    if (f.pc == pc || f.pc == 0) return f;
  }
}

void grow(Thread& t) {
  Bursts& b = *t.bursts;
  const Bursts old = b;
  b.capacity = old.capacity == 0 ? 64 : old.capacity * 2;
  b.functions = static_cast<Function*>(t.arena->allocate(b.capacity * sizeof(Function)));
  for (uint32_t i = 0; i < b.capacity; ++i) b.functions[i] = {};
  for (uint32_t i = 0; i < old.capacity; ++i) {
    if (old.functions[i].pc != 0) slot_of(b, old.functions[i].pc) = old.functions[i];
  }
  if (old.functions != nullptr) t.arena->deallocate(old.functions, old.capacity * sizeof(Function));
}

BurstCounter& counter_of(Thread& t, uintptr_t pc) {
  Bursts& b = *t.bursts;
  if (b.used >= b.capacity / 4 * 3) grow(t);
  Function& f = slot_of(b, pc);
  if (f.pc == 0) {
    f.pc = pc;
    ++b.used;
  }
  return f.counter;
}

}  // namespace

bool is_used() { return g_options.burst != 0; }

Bursts* new_bursts(Bursts* old, uint32_t thread) {
  if (!is_used()) return nullptr;
  auto* bursts = old != nullptr ? old : static_cast<Bursts*>(map_or_die(sizeof(Bursts), "the literace filter"));
  for (uint32_t i = 0; i < bursts->capacity; ++i) bursts->functions[i] = {};
  *bursts = {Random(hash_with(sampler::seed(), thread)), {}, bursts->functions, bursts->capacity, 0};
  return bursts;
}

void enter(Thread& t, uintptr_t caller, uintptr_t stack_pointer, uintptr_t pc) {
  const Scope scope(t);
  enter_function(t, caller, stack_pointer);
  if (counter_of(t, pc).execute(law(), t.bursts->draws) == Paused) t.top[-1].stack_pointer |= Frame::kNotSampled;
  look_at_top(t);
}

void leave(Thread& t) {
  leave_function(t);
  look_at_top(t);
}

void look_at_top(Thread& t) {
  if (t.bursts == nullptr) return;
  const bool sampled = t.top != t.bottom && (t.top[-1].stack_pointer & Frame::kNotSampled) == 0;
  watched = sampled ? &t : nullptr;
}

bool passes_outside(Thread& t) {
  const Scope scope(t);
  return t.bursts->outside.execute(law(), t.bursts->draws) != Paused;
}

}  // namespace pf::rt::literace
