// Locksets, interned: a set of held locks is one number, equal sets have equal numbers, and taking or letting go of
// a lock is one look-up in a table of transitions. The empty set is kNoLocks.
//
// A lock held twice (a recursive mutex) is in the set twice, so that letting go of it once keeps it.
// Not thread-safe: the host serializes.
#pragma once
#include <cstring>

#include "core/array.h"

namespace pf {

enum class LockMode : uint8_t { Write, Read };

struct HeldLock {
  uint64_t lock;
  LockMode mode;
  friend bool operator==(const HeldLock&, const HeldLock&) = default;
  friend bool operator<(const HeldLock& a, const HeldLock& b) {
    return a.lock != b.lock ? a.lock < b.lock : a.mode < b.mode;
  }
};

template <class Env>
class LocksetTable {
 public:
  // The set with one more lock.
  LocksetId with(LocksetId set, HeldLock l, Env& env) {
    return step(set, l, true, env, [&](Members& m) {
      uint32_t i = m.size();
      m.push(l, env);
      for (; i > 0 && l < m[i - 1]; --i) m[i] = m[i - 1];
      m[i] = l;
    });
  }

  // The set with one less; the same set if the lock is not in it.
  LocksetId without(LocksetId set, HeldLock l, Env& env) {
    return step(set, l, false, env, [&](Members& m) {
      uint32_t i = 0;
      while (i < m.size() && !(m[i] == l)) ++i;
      if (i == m.size()) return;
      for (; i + 1 < m.size(); ++i) m[i] = m[i + 1];
      m.pop();
    });
  }

  uint32_t count(LocksetId set) const { return set == kNoLocks ? 0 : sets_[index(set) - 1].size; }

  // A read lock protects reads only: for an access that writes, just the locks held for writing count.
  uint32_t count_for(LocksetId set, bool writes) const {
    uint32_t n = 0;
    for_each(set, [&](const HeldLock& l) { n += protects(l, writes); });
    return n;
  }
  bool share_lock(LocksetId a, bool a_writes, LocksetId b, bool b_writes) const {
    bool shared = false;
    for_each(a, [&](const HeldLock& x) {
      for_each(
          b, [&](const HeldLock& y) { shared |= x.lock == y.lock && protects(x, a_writes) && protects(y, b_writes); });
    });
    return shared;
  }
  // The locks of the first set, once each, that the second holds in a way that protects such an access.
  LocksetId common(LocksetId a, LocksetId b, bool writes, Env& env) {
    LocksetId result = kNoLocks;
    uint64_t last = 0;
    for_each(a, [&](const HeldLock& x) {
      bool kept = false;
      for_each(b, [&](const HeldLock& y) { kept |= x.lock == y.lock && protects(y, writes); });
      if (kept && (result == kNoLocks || x.lock != last)) result = with(result, {x.lock, LockMode::Write}, env);
      last = x.lock;
    });
    return result;
  }
  bool is_subset(LocksetId a, LocksetId b) const {
    if (a == b || a == kNoLocks) return true;
    bool all = true;
    for_each(a, [&](const HeldLock& x) {
      bool found = false;
      for_each(b, [&](const HeldLock& y) { found |= x == y; });
      all &= found;
    });
    return all;
  }

  template <class F>
  void for_each(LocksetId set, F&& f) const {
    if (set == kNoLocks) return;
    const Set s = sets_[index(set) - 1];  // by value, as each member: f may intern sets
    for (uint32_t i = 0; i < s.size; ++i) f(HeldLock(members_[s.first + i]));
  }

  uint32_t interned() const { return sets_.size(); }

  void release(Env& env) {
    members_.release(env);
    scratch_.release(env);
    sets_.release(env);
    buckets_.release(env);
    transitions_.release(env);
  }

 private:
  using Members = Array<HeldLock, Env>;
  struct Set {
    uint32_t first, size;
    uint64_t hash;
  };
  struct Transition {
    HeldLock lock;
    LocksetId from, to;
    bool adds, used;
  };

  static bool protects(const HeldLock& l, bool writes) { return !writes || l.mode == LockMode::Write; }

  // A transition seen before costs one probe; a new one computes the set and interns it.
  template <class Change>
  LocksetId step(LocksetId set, HeldLock l, bool adds, Env& env, Change change) {
    if (transitions_.size() < sets_.size() * 4 || transitions_.size() == 0) [[unlikely]]
      grow_transitions(env);
    const uint64_t h = mix(l.lock * 4 + static_cast<uint64_t>(l.mode) * 2 + adds, index(set));
    Transition& t = transitions_[static_cast<uint32_t>(h) & (transitions_.size() - 1)];
    if (t.used && t.from == set && t.lock == l && t.adds == adds) return t.to;
    scratch_.clear();
    for_each(set, [&](const HeldLock& m) { scratch_.push(m, env); });
    change(scratch_);
    t = {l, set, intern(env), adds, true};
    return t.to;
  }

  // Those known are lost, for they are only a cache: a lost one costs time.
  void grow_transitions(Env& env) {
    const uint32_t size = transitions_.size() == 0 ? 1024 : transitions_.size() * 2;
    transitions_.clear();
    transitions_.resize(size, env);
  }

  LocksetId intern(Env& env) {
    if (scratch_.size() == 0) return kNoLocks;
    uint64_t h = 0;
    for (uint32_t i = 0; i < scratch_.size(); ++i)
      h = mix(h + static_cast<uint64_t>(scratch_[i].mode), scratch_[i].lock);
    if (sets_.size() * 2 >= buckets_.size()) rehash(env);
    uint32_t& bucket = find(h);
    if (bucket == 0) {
      sets_.push({members_.size(), scratch_.size(), h}, env);
      for (uint32_t i = 0; i < scratch_.size(); ++i) members_.push(scratch_[i], env);
      bucket = sets_.size();
    }
    return LocksetId{bucket};
  }

  uint32_t& find(uint64_t h) {
    for (auto i = static_cast<uint32_t>(h);; ++i) {
      uint32_t& bucket = buckets_[i & (buckets_.size() - 1)];
      if (bucket == 0 || (sets_[bucket - 1].hash == h && same_members(sets_[bucket - 1]))) return bucket;
    }
  }

  bool same_members(const Set& s) const {
    if (s.size != scratch_.size()) return false;
    for (uint32_t i = 0; i < s.size; ++i) {
      if (!(members_[s.first + i] == scratch_[i])) return false;
    }
    return true;
  }

  void rehash(Env& env) {
    const uint32_t size = buckets_.size() == 0 ? 64 : buckets_.size() * 2;
    buckets_.clear();
    buckets_.resize(size, env);
    for (uint32_t i = 0; i < sets_.size(); ++i) {
      auto at = static_cast<uint32_t>(sets_[i].hash);
      while (buckets_[at & (size - 1)] != 0) ++at;
      buckets_[at & (size - 1)] = i + 1;
    }
  }

  static uint64_t mix(uint64_t a, uint64_t b) {
    const uint64_t x = (a ^ (b * 0x9E3779B97F4A7C15U)) * 0xD6E8FEB86659FD93U;
    return x ^ x >> 32;
  }

  Members members_, scratch_;
  Array<Set, Env> sets_;
  Array<uint32_t, Env> buckets_;
  Array<Transition, Env> transitions_;
};

}  // namespace pf
