#include "runtime/groups.h"

#include "runtime/memory.h"
#include "runtime/spin.h"

namespace pf::rt::groups {
namespace {

struct Pattern {
  depot::Id access[8];  // 0 for a byte that it is not for
  uint32_t next;        // in its bucket
};

constexpr unsigned kBucketBits = 18;
constinit uint32_t g_buckets[1U << kBucketBits] = {};  // guarded by g_lock where they change
constinit Pieces<Pattern, 12, kPattern / 4096> g_patterns;
constinit uint32_t g_last = 0;
constinit SpinLock g_lock;

uint32_t& bucket(const Pattern& p) {
  uint64_t h = 0;
  for (const depot::Id a : p.access) h = (h ^ a) * 0x9E3779B97F4A7C15U;
  return g_buckets[h >> (64 - kBucketBits)];
}

bool equal(const Pattern& a, const Pattern& b) {
  for (unsigned i = 0; i < 8; ++i) {
    if (a.access[i] != b.access[i]) return false;
  }
  return true;
}

Code find(uint32_t from, const Pattern& p) {
  for (uint32_t i = from; i != 0; i = g_patterns[i].next) {
    if (equal(g_patterns[i], p)) return kPattern | i;
  }
  return kNone;
}

Code intern(Pattern& p) {
  uint32_t& head = bucket(p);
  // Without the lock first: patterns stay as they are once they are in a bucket.
  if (const Code known = find(__atomic_load_n(&head, __ATOMIC_ACQUIRE), p); known != kNone) return known;
  const Guard guard(g_lock);
  if (const Code known = find(head, p); known != kNone) return known;
  if (g_last + 1 >= kPattern) return kNone;
  const uint32_t fresh = ++g_last;
  g_patterns.provide(fresh);
  p.next = head;
  g_patterns[fresh] = p;
  __atomic_store_n(&head, fresh, __ATOMIC_RELEASE);
  return kPattern | fresh;
}

}  // namespace

depot::Id access_at(Code code, unsigned byte) {
  if ((code & kLarge) != 0) return code & ~kLarge;
  if ((code & kPattern) == 0) return code;
  const Pattern& p = g_patterns[code & ~kPattern];
  if (p.access[byte] != 0) return p.access[byte];
  for (const depot::Id a : p.access) {
    if (a != 0) return a;
  }
  return 0;
}

constinit Step g_steps[1U << kStepBits] = {};

namespace {

// The accesses of these bytes.
void put(Pattern& p, Code code, uint8_t bytes) {
  const Pattern* from = (code & kPattern) != 0 ? &g_patterns[code & ~kPattern] : nullptr;
  for (unsigned i = 0; i < 8; ++i) {
    if ((bytes >> i & 1) != 0) p.access[i] = from != nullptr ? from->access[i] : code;
  }
}

}  // namespace

Code combine_anew(Code of, uint8_t bytes, Code with, uint8_t with_bytes) {
  Pattern p{};
  put(p, of, bytes);
  put(p, with, with_bytes);
  const Code to = intern(p);
  const uint64_t key = key_of(of, bytes, with, with_bytes), hash = hash_of(key);
  Step& s = g_steps[hash >> (64 - kStepBits)];
  __atomic_store_n(&s.key, key, __ATOMIC_RELAXED);
  __atomic_store_n(&s.checked, hash << 32 | to, __ATOMIC_RELAXED);
  return to;
}

}  // namespace pf::rt::groups
