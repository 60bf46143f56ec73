#include "runtime/read_sets.h"

#include "runtime/say.h"
#include "runtime/spin.h"

namespace pf::rt::sets {
namespace {

constexpr uint32_t kOwn = 1U << 31;
constexpr unsigned kBucketBits = 17;
struct Bucket {
  SpinLock lock;
  uint32_t first;  // guarded by lock
};
constinit Bucket g_buckets[1U << kBucketBits] = {};
constinit Pieces<Set, 12, 1U << 16> g_sets;
constinit uint32_t g_last = 0;
constinit uint32_t g_free = 0;  // list by `next`, guarded by g_free_lock
constinit SpinLock g_free_lock;

Bucket& bucket(uint64_t hash) { return g_buckets[hash >> (64 - kBucketBits)]; }

uint64_t hash_of(const SetEntry* entries, uint32_t count) {
  uint64_t h = count;
  for (uint32_t i = 0; i < count; ++i) {
    h = (h ^ entries[i].epoch.clock() ^ uint64_t{index(entries[i].epoch.slot())} << 40) * 0x9E3779B97F4A7C15U;
    h = (h ^ h >> 29 ^ entries[i].access) * 0xC2B2AE3D27D4EB4FU;
  }
  return h;
}

bool equal(const Set& s, const SetEntry* entries, uint32_t count) {
  if (s.count != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (s.entries[i].epoch != entries[i].epoch || s.entries[i].access != entries[i].access) return false;
  }
  return true;
}

uint32_t fresh_id() {
  {
    const Guard guard(g_free_lock);
    if (g_free != 0) {
      const uint32_t id = g_free;
      g_free = g_sets[id].next;
      return id;
    }
  }
  const uint32_t id = __atomic_add_fetch(&g_last, 1, __ATOMIC_RELAXED);
  if (!g_sets.provide(id)) die_of("more than 268 million different sets of readers");
  return id;
}

// Takes a reference unless the set has none left, in which case it is on its way out, or is somebody's own.
bool retain_if_shared(Set& s) {
  uint32_t seen = __atomic_load_n(&s.references, __ATOMIC_RELAXED);
  while (seen != 0 && seen != kOwn) {
    if (__atomic_compare_exchange_n(&s.references, &seen, seen + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return true;
  }
  return false;
}

// `entries` are the arena's; they are kept, or given back when the set is there already.
SetName intern(SetEntry* entries, uint32_t count, Arena& arena) {
  const uint64_t hash = hash_of(entries, count);
  Bucket& b = bucket(hash);
  const Guard guard(b.lock);
  for (uint32_t id = b.first; id != 0; id = g_sets[id].next) {
    Set& s = g_sets[id];
    if (s.hash != hash || !equal(s, entries, count) || !retain_if_shared(s)) continue;
    arena.deallocate(entries, count * sizeof(SetEntry));
    return {id, s.generation};
  }
  const uint32_t id = fresh_id();
  Set& s = g_sets[id];
  s.generation = (s.generation + 1) & ((1U << kGenerationBits) - 1);
  s.count = count;
  s.hash = hash;
  s.entries = entries;
  s.next = b.first;
  b.first = id;
  __atomic_store_n(&s.references, 1, __ATOMIC_RELEASE);
  return {id, s.generation};
}

bool is_gone(uint32_t gone, uint32_t i) { return i < 32 && (gone >> i & 1) != 0; }

SetEntry* copy_with(const Set* old, const SetEntry& entry, uint32_t gone, uint32_t& count, Arena& arena) {
  const uint32_t old_count = old == nullptr ? 0 : old->count;
  const auto is_kept = [&](uint32_t i) {
    return old->entries[i].epoch.slot() != entry.epoch.slot() && !is_gone(gone, i);
  };
  count = 1;
  for (uint32_t i = 0; i < old_count; ++i) count += is_kept(i) ? 1 : 0;
  auto* entries = static_cast<SetEntry*>(arena.allocate(count * sizeof(SetEntry)));
  uint32_t at = 0, i = 0;
  for (; i < old_count && index(old->entries[i].epoch.slot()) < index(entry.epoch.slot()); ++i) {
    if (is_kept(i)) entries[at++] = old->entries[i];
  }
  entries[at++] = entry;
  for (; i < old_count; ++i) {
    if (is_kept(i)) entries[at++] = old->entries[i];
  }
  return entries;
}

void unlink(uint32_t id) {
  Bucket& b = bucket(g_sets[id].hash);
  const Guard guard(b.lock);
  uint32_t* link = &b.first;
  while (*link != id) link = &g_sets[*link].next;
  *link = g_sets[id].next;
}

// Whether only its owner has it now and nobody else will: then it may change. It has another name from then on.
bool make_own(SetName& set) {
  Set& s = g_sets[set.id];
  uint32_t seen = __atomic_load_n(&s.references, __ATOMIC_ACQUIRE);
  if (seen == kOwn) return true;
  if (seen != 1 || !__atomic_compare_exchange_n(&s.references, &seen, kOwn, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  unlink(set.id);
  set.generation = s.generation = (s.generation + 1) & ((1U << kGenerationBits) - 1);
  return true;
}

SetEntry* entry_of(const Set& s, Slot slot) {
  for (uint32_t i = 0; i < s.count; ++i) {
    if (s.entries[i].epoch.slot() == slot) return &s.entries[i];
  }
  return nullptr;
}

// No other mark is gone.
bool is_only(uint32_t gone, const Set& s, const SetEntry* entry) {
  const auto i = static_cast<uint32_t>(entry - s.entries);
  return i >= 32 ? gone == 0 : (gone & ~(1U << i)) == 0;
}

}  // namespace

const Set& at(uint32_t id) { return g_sets[id]; }

Set* own(SetName set) { return g_sets[set.id].references == kOwn ? &g_sets[set.id] : nullptr; }

SetName share(SetName set, Arena& arena) {
  Set& s = g_sets[set.id];
  if (s.references == kOwn) {
    auto* copy = static_cast<SetEntry*>(arena.allocate(s.count * sizeof(SetEntry)));
    for (uint32_t i = 0; i < s.count; ++i) copy[i] = s.entries[i];
    return intern(copy, s.count, arena);
  }
  __atomic_fetch_add(&s.references, 1, __ATOMIC_RELAXED);
  return set;
}

void release(SetName set, Arena& arena) {
  Set& s = g_sets[set.id];
  if (s.references == kOwn) {
    s.references = 0;
  } else {
    if (__atomic_sub_fetch(&s.references, 1, __ATOMIC_ACQ_REL) != 0) return;
    unlink(set.id);
  }
  arena.deallocate(s.entries, s.count * sizeof(SetEntry));
  const Guard guard(g_free_lock);
  s.next = g_free;
  g_free = set.id;
}

SetName with(SetName set, const SetEntry& entry, uint32_t gone, SetStep* steps, Arena& arena) {
  SetStep& step = steps[(set.id ^ set.id >> 6 ^ entry.access) & (kSteps - 1)];
  if (step.from == set && step.epoch == entry.epoch && step.access == entry.access && step.gone == gone &&
      step.to.id != 0) {
    Set& to = g_sets[step.to.id];
    if (retain_if_shared(to)) {
      const bool is_same = to.generation == step.to.generation;
      release(is_same ? set : SetName{step.to.id, to.generation}, arena);
      if (is_same) return step.to;
    }
  }
  if (SetEntry* known = set.id == 0 ? nullptr : entry_of(g_sets[set.id], entry.epoch.slot());
      known != nullptr && is_only(gone, g_sets[set.id], known) && make_own(set)) {
    *known = entry;
    return set;
  }
  uint32_t count = 0;
  SetEntry* entries = copy_with(set.id == 0 ? nullptr : &g_sets[set.id], entry, gone, count, arena);
  const SetName next = intern(entries, count, arena);
  step = {set, next, entry.epoch, entry.access, gone};
  if (set.id != 0) release(set, arena);
  return next;
}

SetName without(SetName set, Slot slot, Arena& arena) {
  const Set& old = g_sets[set.id];
  if (entry_of(old, slot) == nullptr) return set;
  SetName next;
  if (old.count > 1) {
    auto* entries = static_cast<SetEntry*>(arena.allocate((old.count - 1) * sizeof(SetEntry)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < old.count; ++i) {
      if (old.entries[i].epoch.slot() != slot) entries[count++] = old.entries[i];
    }
    next = intern(entries, count, arena);
  }
  release(set, arena);
  return next;
}

}  // namespace pf::rt::sets
