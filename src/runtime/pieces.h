// How the history of a granule is kept for any detector: a list of pieces, each the bytes that have had the same
// accesses so far and the detector's variable for them. The cell points at the list; its lowest bit is the granule's lock.
//
// For detectors that settle (detector.h) a granule also has tags, which say what is settled: for a thread in its period, these bytes, for reads
// or for writes too. The latest tag is in the cell, a few more, by slot, in the first piece: data that several threads
// read takes no lock. A tag is true until the memory gets a new life, so it may be read at any time, and only its own thread trusts it.
//
//   tag     ┌ slot, 23 bits ┬ clock, 32 ┬ writes? 1 ┬ bytes of the granule, 8 ┐
#pragma once
#include "detect/detector.h"
#include "runtime/env.h"
#include "runtime/spin.h"

namespace pf::rt {

template <class D>
class PieceStore {
 public:
  using Var = typename D::Var;
  using Thread = typename D::Thread;
  static constexpr bool kTags = Settles<D, OnlineEnv>;
  struct Cell {
    uintptr_t pieces;
    uint64_t latest;
  };

  // The thread's period as tags have it.
  struct Now {
    uint64_t period = kNoPeriod;
  };
  static void renew(Now& now, const Thread& t) {
    if constexpr (kTags) now.period = period_bits(D::period(t));
  }

  // Hot: one load, one compare.
  template <Op kOp>
  [[gnu::always_inline]] static bool latest_is_same_epoch(const Cell& cell, uint8_t bytes, const Now& now) {
    return kTags && is_settled<kOp>(cell.latest, bytes, now);
  }
  // Of another thread's pieces we see no more than the tags. Freed ones are never unmapped, and whoever frees
  // them beside this access races with it.
  template <Op kOp>
  static bool same_epoch(const Cell& cell, uint8_t bytes, const Now& now) {
    if (!kTags) return false;
    if (latest_is_same_epoch<kOp>(cell, bytes, now)) return true;
    const Piece* first = pointer(__atomic_load_n(&cell.pieces, __ATOMIC_ACQUIRE));
    return first != nullptr && is_settled<kOp>(first->tags[tag_of(now.period)], bytes, now);
  }
  // After the rule: one more variable of the access is settled, or not.
  template <Op kOp>
  static void settle(const Now& now, const Thread& t, const Var& x, OnlineEnv& env) {
    if constexpr (kTags) {
      if (!D::settled(t, x, kOp, env)) return;
      ++env.settled;
      env.tag = now.period | (kOp == Op::Write ? kWrites : 0);
    }
  }

  static void note_readers(const Cell&, Now&) {}
  static OnlineEnv::Access access(depot::Id id) { return {id}; }
  template <class F>
  static void for_each_access(OnlineEnv::Access a, uint8_t bytes, F&& f) {
    f(a.id, static_cast<unsigned>(__builtin_ctz(bytes)));
  }

  // Calls f with the variable of each piece of these bytes, new ones included. Nobody else is at the granule meanwhile.
  template <class F>
  static void visit(Cell& cell, uint8_t mask, OnlineEnv::Access, OnlineEnv& env, F&& f) {
    Piece* first = lock(cell);
    const uint8_t bytes = mask;
    unsigned visited = 0;
    env.settled = 0;
    const auto look = [&](uint8_t part, Var& x) {
      env.look_at(part);
      f(x);
      ++visited;
    };
    for (Piece* p = first; p != nullptr && mask != 0; p = p->next) {
      const auto common = static_cast<uint8_t>(p->mask & mask);
      if (common == 0) continue;
      if (common != p->mask) tear(*p, common, env);
      look(common, p->var);
      mask = static_cast<uint8_t>(mask & ~common);
    }
    if (mask != 0) {
      first = new (env.allocate(sizeof(Piece))) Piece{first, mask, {}, {}};
      look(mask, first->var);
    }
    if constexpr (kTags) env.settled == visited ? add_tag(cell, *first, env.tag | bytes) : drop_tags(cell, *first);
    unlock(cell, first);
  }

  static bool empty(const Cell& cell) { return __atomic_load_n(&cell.pieces, __ATOMIC_RELAXED) == 0; }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t mask, OnlineEnv& env) {
    if (empty(cell)) return;
    Piece* first = lock(cell);
    for (Piece** link = &first; *link != nullptr;) {
      Piece* p = *link;
      if constexpr (kTags) drop_tags(cell, *p);
      p->mask = static_cast<uint8_t>(p->mask & ~mask);
      if (p->mask != 0) {
        link = &p->next;
        continue;
      }
      *link = p->next;
      D::clear(p->var, env);
      env.deallocate(p, sizeof(Piece));
    }
    unlock(cell, first);
  }

 private:
  static constexpr unsigned kTagsKept = kTags ? 4 : 1;
  struct Piece {
    Piece* next;
    uint8_t mask;
    uint64_t tags[kTagsKept];
    Var var;
  };
  static constexpr uintptr_t kLocked = 1;

  static constexpr unsigned kClockBit = 9, kSlotBit = kClockBit + 32;
  static constexpr uint64_t kBytes = 0xFF, kWrites = 1U << 8, kPeriod = ~uint64_t{0} << kClockBit;
  static constexpr uint64_t kNoPeriod = ~uint64_t{0};

  static uint64_t period_bits(OnlineEnv::Epoch e) {
    const bool fits = index(e.slot()) < (1U << (64 - kSlotBit)) - 1;
    return fits ? uint64_t{index(e.slot())} << kSlotBit | uint64_t{e.clock()} << kClockBit : kNoPeriod;
  }
  static unsigned tag_of(uint64_t tag) { return tag >> kSlotBit & (kTagsKept - 1); }

  // What is settled for writes is settled for reads.
  template <Op kOp>
  [[gnu::always_inline]] static bool is_settled(const uint64_t& tag, uint64_t bytes, const Now& now) {
    const uint64_t kind = kOp == Op::Write ? kWrites : 0;
    return (__atomic_load_n(&tag, __ATOMIC_RELAXED) & (kPeriod | kind | bytes)) == (now.period | kind | bytes);
  }

  static void add_tag(Cell& cell, Piece& first, uint64_t tag) {
    if (tag >> kClockBit == kNoPeriod >> kClockBit) return drop_tags(cell, first);
    uint64_t& place = first.tags[tag_of(tag)];
    tag = merged(place, tag);
    __atomic_store_n(&place, tag, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.latest, tag, __ATOMIC_RELAXED);
  }
  static uint64_t merged(uint64_t old, uint64_t tag) {
    if (((old ^ tag) & kPeriod) != 0 || (old & kWrites) < (tag & kWrites)) return tag;
    return (tag & ~kBytes) | ((old | tag) & kBytes);
  }
  static void drop_tags(Cell& cell, Piece& p) {
    for (uint64_t& tag : p.tags) __atomic_store_n(&tag, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.latest, 0, __ATOMIC_RELAXED);
  }

  static Piece* pointer(uintptr_t cell) { return reinterpret_cast<Piece*>(cell & ~kLocked); }

  static Piece* lock(Cell& cell) {
    for (unsigned round = 0;; ++round) {
      uintptr_t seen = __atomic_load_n(&cell.pieces, __ATOMIC_RELAXED);
      if ((seen & kLocked) == 0 &&
          __atomic_compare_exchange_n(&cell.pieces, &seen, seen | kLocked, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return pointer(seen);
      }
      relax(round);
    }
  }
  static void unlock(Cell& cell, Piece* first) {
    __atomic_store_n(&cell.pieces, reinterpret_cast<uintptr_t>(first), __ATOMIC_RELEASE);
  }

  static void tear(Piece& p, uint8_t common, OnlineEnv& env) {
    auto* rest = new (env.allocate(sizeof(Piece)))
        Piece{p.next, static_cast<uint8_t>(p.mask & ~common), {}, D::clone(p.var, env)};
    p.mask = common;
    p.next = rest;
  }
};

}  // namespace pf::rt
