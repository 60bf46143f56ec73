// Locksets, interned: a set of held locks is one number, equal sets have equal numbers, and taking or letting go of
// a lock is one look-up in a memo. The empty set is kNoLocks.
//
// A lock held twice (a recursive mutex) is in the set twice, so that letting go of it once keeps it.
// The host serializes what is not const. If its Rows never move, the rest needs no lock: a set never changes.
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

struct LocksetAnswer {
  uint64_t operand;
  LocksetId set, answer;
  uint32_t question;  // 0 if nobody used it
};

// The answers to the latest questions about sets. A cache: a lost entry costs time only.
template <class Answers>
class BasicLocksetMemo : public Answers {
 public:
  template <class F>
  LocksetId with(LocksetId set, HeldLock l, F anew) {
    return recall({l.lock, set, kNoLocks, kWith + static_cast<uint32_t>(l.mode)}, anew);
  }
  template <class F>
  LocksetId without(LocksetId set, HeldLock l, F anew) {
    return recall({l.lock, set, kNoLocks, kWithout + static_cast<uint32_t>(l.mode)}, anew);
  }
  template <class F>
  LocksetId common(LocksetId a, LocksetId b, bool writes, F anew) {
    return recall({index(b), a, kNoLocks, kCommon + writes}, anew);
  }

 private:
  static constexpr uint32_t kWith = 2, kWithout = 4, kCommon = 6;

  template <class F>
  LocksetId recall(LocksetAnswer asked, F anew) {
    const uint64_t h =
        (asked.operand * 8 + asked.question) * 0x9E3779B97F4A7C15U + uint64_t{index(asked.set)} * 0xD6E8FEB9U;
    const uint64_t place = h ^ h >> 32;
    const LocksetAnswer& known = this->at(place);
    if (known.operand == asked.operand && known.set == asked.set && known.question == asked.question)
      return known.answer;
    asked.answer = anew();  // may ask, too: what is known moves
    this->at(place) = asked;
    return asked.answer;
  }
};

template <uint32_t kCount>
class FixedAnswers {
 protected:
  LocksetAnswer& at(uint64_t place) { return all_[place % kCount]; }

 private:
  LocksetAnswer all_[kCount] = {};
};
template <uint32_t kCount>
using LocksetMemo = BasicLocksetMemo<FixedAnswers<kCount>>;

// As many as the sets ask for: a lock that is taken under others is a question for each of their sets.
template <class Env>
class GrowingAnswers {
 public:
  void make_room(uint32_t sets, Env& env) {
    if (all_.size() != 0 && all_.size() >= sets * 4) return;
    const uint32_t size = all_.size() == 0 ? 1024 : all_.size() * 2;
    all_.clear();
    all_.resize(size, env);
  }
  void release(Env& env) { all_.release(env); }

 protected:
  LocksetAnswer& at(uint64_t place) { return all_[static_cast<uint32_t>(place) & (all_.size() - 1)]; }

 private:
  Array<LocksetAnswer, Env> all_;
};

// Rows<T, Env> is how the sets are stored: an Array, or what else can push() and be indexed.
template <class Env, template <class, class> class Rows = Array>
class LocksetTable {
 public:
  // The set with one more lock.
  LocksetId with(LocksetId set, HeldLock l, Env& env) {
    return memo(env).with(set, l, [&] {
      copy_members(set, env);
      uint32_t i = scratch_.size();
      scratch_.push(l, env);
      for (; i > 0 && l < scratch_[i - 1]; --i) scratch_[i] = scratch_[i - 1];
      scratch_[i] = l;
      return intern(env);
    });
  }

  // The set with one less; the same set if the lock is not in it.
  LocksetId without(LocksetId set, HeldLock l, Env& env) {
    return memo(env).without(set, l, [&] {
      copy_members(set, env);
      uint32_t i = 0;
      while (i < scratch_.size() && !(scratch_[i] == l)) ++i;
      if (i < scratch_.size()) scratch_.remove(i);
      return intern(env);
    });
  }

  // A read lock protects reads only: for an access that writes, just the locks held for writing count.
  uint32_t count_for(LocksetId set, bool writes) const {
    if (set == kNoLocks) return 0;
    const Set& s = sets_[index(set) - 1];
    return writes ? s.for_writing : s.size;
  }
  bool share_lock(LocksetId a, bool a_writes, LocksetId b, bool b_writes) const {
    if (a == kNoLocks || b == kNoLocks) return false;
    bool shared = false;
    for_each(a, [&](const HeldLock& x) { shared |= protects(x, a_writes) && has(b, x.lock, b_writes); });
    return shared;
  }
  // The locks of the first set, once each, that the second holds in a way that protects such an access.
  LocksetId common(LocksetId a, LocksetId b, bool writes, Env& env) {
    if (a == kNoLocks || b == kNoLocks) return kNoLocks;
    return memo(env).common(a, b, writes, [&] {
      LocksetId result = kNoLocks;
      uint64_t last = 0;
      for_each(a, [&](const HeldLock& x) {
        const bool is_new = result == kNoLocks || x.lock != last;
        if (is_new && has(b, x.lock, writes)) result = with(result, {x.lock, LockMode::Write}, env);
        last = x.lock;
      });
      return result;
    });
  }
  bool is_subset(LocksetId a, LocksetId b) const {
    if (a == b || a == kNoLocks) return true;
    bool all = true;
    for_each(a, [&](const HeldLock& x) { all &= contains(b, x); });
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
    memo_.release(env);
  }

 private:
  struct Set {
    uint32_t first, size;
    uint32_t for_writing;  // how many of them
    uint64_t hash;
  };

  auto& memo(Env& env) {
    memo_.make_room(sets_.size(), env);
    return memo_;
  }

  static bool protects(const HeldLock& l, bool writes) { return !writes || l.mode == LockMode::Write; }

  // The first member that is not less than l. Members are sorted: a thread may hold thousands.
  uint32_t lower_bound(const Set& s, const HeldLock& l) const {
    uint32_t low = 0, high = s.size;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (members_[s.first + middle] < l) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  // In a way that protects such an access. Modes sort as they protect: held for writing comes first.
  bool has(LocksetId set, uint64_t lock, bool writes) const {
    const Set& s = sets_[index(set) - 1];
    const uint32_t i = lower_bound(s, {lock, LockMode::Write});
    return i < s.size && members_[s.first + i].lock == lock && protects(members_[s.first + i], writes);
  }
  bool contains(LocksetId set, const HeldLock& l) const {
    if (set == kNoLocks) return false;
    const Set& s = sets_[index(set) - 1];
    const uint32_t i = lower_bound(s, l);
    return i < s.size && members_[s.first + i] == l;
  }

  void copy_members(LocksetId set, Env& env) {
    scratch_.clear();
    for_each(set, [&](const HeldLock& m) { scratch_.push(m, env); });
  }

  LocksetId intern(Env& env) {
    if (scratch_.size() == 0) return kNoLocks;
    uint64_t h = 0;
    for (uint32_t i = 0; i < scratch_.size(); ++i)
      h = mix(h + static_cast<uint64_t>(scratch_[i].mode), scratch_[i].lock);
    if (sets_.size() * 2 >= buckets_.size()) rehash(env);
    uint32_t& bucket = find(h);
    if (bucket == 0) {
      Set s{members_.size(), scratch_.size(), 0, h};
      for (uint32_t i = 0; i < scratch_.size(); ++i) {
        members_.push(scratch_[i], env);
        s.for_writing += scratch_[i].mode == LockMode::Write;
      }
      sets_.push(s, env);
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

  Rows<HeldLock, Env> members_;
  Rows<Set, Env> sets_;
  Array<HeldLock, Env> scratch_;
  Array<uint32_t, Env> buckets_;
  BasicLocksetMemo<GrowingAnswers<Env>> memo_;
};

}  // namespace pf
