#include "runtime/groups.h"

#include <utility>

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
constexpr uint32_t kPatterns = kDuo ^ kPattern;
constinit Pieces<Pattern, 12, kPatterns / 4096> g_patterns;
constinit uint32_t g_last = 0;
constinit uint32_t g_last_two = 0;
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
  if (g_last + 1 >= kPatterns) return kNone;
  const uint32_t fresh = ++g_last;
  g_patterns.provide(fresh);
  p.next = head;
  g_patterns[fresh] = p;
  __atomic_store_n(&head, fresh, __ATOMIC_RELEASE);
  return kPattern | fresh;
}

}  // namespace

constinit Two g_twos[1U << kTwoBits] = {};
constinit Bucket g_two_buckets[1U << kTwoBucketsBits] = {};

depot::Id access_at(Code code, unsigned byte) {
  if ((code & kLarge) != 0) return code & ~kLarge;
  if (is_access(code)) return code;
  if (is_duo(code)) return (code >> byte & 1) != 0 ? two_of(code).second : two_of(code).first;
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
  for (unsigned i = 0; i < 8; ++i) {
    if ((bytes >> i & 1) != 0) p.access[i] = access_at(code, i);
  }
}

// The number of the two, given to them if they had none; 0 if there is no room for one.
uint32_t number(Two two) {
  const uint64_t key = key_of(two);
  if (const uint32_t known = number_of(key); known != 0) return known;
  const Guard guard(g_lock);
  if (const uint32_t known = number_of(key); known != 0) return known;
  if (g_last_two + 1 >= 1U << kTwoBits) return 0;
  for (uint64_t& entry : bucket_of(key).entries) {
    if (entry != 0) continue;
    g_twos[++g_last_two] = two;
    __atomic_store_n(&entry, key | g_last_two, __ATOMIC_RELEASE);
    return g_last_two;
  }
  return 0;
}

// The pattern of no more than two accesses; kNone if there are more, or there is no number for them.
Code duo_anew(const Pattern& p) {
  Two two{0, 0};
  for (const depot::Id a : p.access) {
    if (a == 0 || a == two.first || a == two.second) continue;
    if (two.first == 0) {
      two.first = a;
    } else if (two.second == 0) {
      two.second = a;
    } else {
      return kNone;
    }
  }
  if (two.second == 0) return two.first;
  if (two.second < two.first) std::swap(two.first, two.second);
  unsigned second = 0;
  for (unsigned i = 0; i < 8; ++i) second |= p.access[i] == two.second ? 1U << i : 0;
  const uint32_t i = number(two);
  return i == 0 ? kNone : kDuo | i << 8 | second;
}

}  // namespace

Code combine_anew(Code of, uint8_t bytes, Code with, uint8_t with_bytes) {
  Pattern p{};
  put(p, of, bytes);
  put(p, with, with_bytes);
  if (const Code duo = duo_anew(p); duo != kNone) return duo;
  const Code to = intern(p);
  const uint64_t key = key_of(of, bytes, with, with_bytes), hash = hash_of(key);
  Step& s = g_steps[hash >> (64 - kStepBits)];
  __atomic_store_n(&s.key, key, __ATOMIC_RELAXED);
  __atomic_store_n(&s.checked, hash << 32 | to, __ATOMIC_RELAXED);
  return to;
}

}  // namespace pf::rt::groups
