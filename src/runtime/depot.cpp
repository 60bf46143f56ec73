#include "runtime/depot.h"

#include "runtime/memory.h"
#include "runtime/say.h"

namespace pf::rt::depot {
namespace {

constexpr unsigned kBucketBits = 20;
constinit Id g_buckets[1U << kBucketBits] = {};
constinit Pieces<Node, 16, 1U << 16> g_nodes;  // every number that an Id can have
constinit Id g_last = 0;

Id& bucket(Id below, uint64_t key) {
  const uint64_t h = (key ^ (uint64_t{below} << 40) ^ below) * 0x9E3779B97F4A7C15U;
  return g_buckets[h >> (64 - kBucketBits)];
}

Id find(Id from, Id until, Id below, uint64_t key) {
  for (Id id = from; id != until; id = g_nodes[id].next_in_bucket) {
    if (g_nodes[id].key == key && g_nodes[id].below == below) return id;
  }
  return 0;
}

[[gnu::noinline]] Id add(Id& head, Id first, Id below, uint64_t key) {
  const Id fresh = __atomic_add_fetch(&g_last, 1, __ATOMIC_RELAXED);
  if (fresh == 0) die_of("more than four billion different call stacks");
  g_nodes.provide(fresh);
  g_nodes[fresh] = {key, below, first};
  Id seen = first;
  while (!__atomic_compare_exchange_n(&head, &seen, fresh, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
    if (const Id theirs = find(seen, g_nodes[fresh].next_in_bucket, below, key); theirs != 0) return theirs;
    g_nodes[fresh].next_in_bucket = seen;
  }
  return fresh;
}

}  // namespace

Id push(Id below, uint64_t key) {
  Id& head = bucket(below, key);
  const Id first = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
  if (const Id known = find(first, 0, below, key); known != 0) return known;
  return add(head, first, below, key);
}

Id push_after(Id latest, Id below, uint64_t key) {
  constexpr Id kFew = 6;
  // A node is written once, from zero; so one that has both is the right one, though another thread may be about to put it in its bucket, or
  // have found that it is there already: then two numbers mean the same, which costs no more than a number.
  for (Id id = latest + 1; id <= latest + kFew && g_nodes.has(id); ++id) {
    const Node& node = g_nodes[id];
    if (__atomic_load_n(&node.key, __ATOMIC_RELAXED) == key && __atomic_load_n(&node.below, __ATOMIC_RELAXED) == below)
      return id;
  }
  return push(below, key);
}

const Node& at(Id id) { return g_nodes[id]; }

}  // namespace pf::rt::depot
