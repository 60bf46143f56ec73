// How the history of a granule is kept for any detector: a list of pieces, each the bytes that have had the same
// accesses so far and the detector's variable for them. The cell points at the list; its lowest bit is the granule's lock.
//
// A cell also has tags, by which a repeat is known before any lock. A tag names a thread's period (detector.h) and bytes:
//
//   tag     ┌ slot, 16 bits ┬ clock, 32 ┬ bytes that were read or written, 8 ┬ bytes that were written, 8 ┐
//
// If the detector settles, a tag says what is settled, for reads and for writes. A thread has its place among the tags by its slot, so
// data that a few threads read takes no lock. It is true until the memory gets a new life.
// If not, there is one tag, of the granule's latest access, and the number of that access. To make the very same access in the same period
// once more adds nothing: rules are functions of the thread, the variable and the access; since the first time, the variable
// is what the rule left, and the thread can only have learnt more and taken more locks, by which it races with less. What the rule then puts
// in place is what it put there: sightings and marks of this period and access; candidates that were intersected with these locks before.
//
// Tags are changed under the lock and read at any time; only the thread whose period it is trusts one.
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
  static constexpr bool kSettles = Settles<D, OnlineEnv>;
  static constexpr unsigned kTags = 3;  // which makes a cell of 32 bytes; cells divide a page
  struct Cell {
    uintptr_t pieces;
    uint64_t tags[kTags];
  };
  static constexpr uintptr_t kBytesPerGranule = sizeof(Cell);
  static constexpr bool kIsDirect = false;  // compact.h
  struct Last {};

  // The thread's period as tags have it, and its place among them.
  struct Now {
    uint64_t period = kNoPeriod;
    uint64_t place = 0;
  };
  static void renew(Now& now, const Thread& t) {
    now.period = period_bits(period(t));
    now.place = place_of(now.period);
  }

  // Hot: one load, one compare.
  template <Op kOp>
  [[gnu::always_inline]] static bool latest_is_same_epoch(const Cell& cell, uint64_t bytes, const Now& now) {
    const uint64_t marks = bytes << (kOp == Op::Write ? 0 : kReadBit);
    return kSettles &&
           (__atomic_load_n(&cell.tags[now.place], __ATOMIC_RELAXED) & (kPeriod | marks)) == (now.period | marks);
  }
  template <Op kOp>
  static bool same_epoch(const Cell& cell, uint64_t bytes, const Now& now) {
    return latest_is_same_epoch<kOp>(cell, bytes, now);
  }
  template <Op kOp>
  static bool other_is_same_epoch(const Cell&, uint64_t, const Now&) {
    return false;
  }
  // Soon to be visited: what the cell points at may be far away.
  [[gnu::always_inline]] static void expect(const Cell& cell) {
    __builtin_prefetch(pointer(__atomic_load_n(&cell.pieces, __ATOMIC_RELAXED)));
  }
  static bool repeat(Cell&, const Deed&, OnlineEnv&) { return false; }
  static void note_readers(OnlineEnv&, Now&) {}
  static OnlineEnv::Access access(depot::Id id) { return {id}; }
  template <class F>
  static void for_each_access(OnlineEnv::Access a, uint8_t bytes, F&& f) {
    f(a.id, static_cast<unsigned>(__builtin_ctz(bytes)));
  }

  // A plain access, whose rule f is called as visit() does, unless it is a repeat.
  template <Op kOp, class F>
  static void visit_plain(Cell& cell, const Deed& deed, OnlineEnv::Access a, const Now& now, const typename D::Thread&,
                          OnlineEnv& env, F&& f) {
    const auto bytes = static_cast<uint8_t>(deed.what);
    if constexpr (kOp == Op::Free) return visit(cell, bytes, env, f);
    if (!kSettles && is_latest(cell, now.period | bytes, a)) return;
    Piece* first = lock(cell);
    env.settled = 0;
    const unsigned visited = visit_pieces(first, bytes, env, f);
    if constexpr (TellsSame<D>) {
      if (first->next() != nullptr) mend(first, bytes, env);
    }
    if (now.period == kNoPeriod || (kSettles && env.settled != visited)) {
      drop_tags(cell);
    } else if (kSettles) {
      add_tag(cell.tags[now.place], now.period | settled<kOp>(bytes));
    } else {
      put_latest(cell, now.period | bytes, a);
    }
    unlock(cell, first);
  }

  // Calls f with the variable of each piece of these bytes, new ones included. Nobody else is at the granule meanwhile.
  template <class F>
  static void visit(Cell& cell, uint8_t bytes, OnlineEnv& env, F&& f) {
    Piece* first = lock(cell);
    visit_pieces(first, bytes, env, f);
    drop_tags(cell);
    unlock(cell, first);
  }

  static bool empty(const Cell& cell) { return __atomic_load_n(&cell.pieces, __ATOMIC_RELAXED) == 0; }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t mask, OnlineEnv& env) {
    if (empty(cell)) return;
    Piece* first = lock(cell);
    drop_tags(cell);
    Piece* before = nullptr;
    for (Piece* p = first; p != nullptr;) {
      Piece* const next = p->next();
      p->mask = p->mask & ~uint64_t{mask};
      if (p->mask != 0) {
        before = p;
      } else {
        before != nullptr ? before->set_next(next) : void(first = next);
        drop(p, env);
      }
      p = next;
    }
    unlock(cell, first);
  }

 private:
  // Addresses leave 16 bits, so that a usual piece is one line of the cache.
  struct Piece {
    uint64_t link : 48;
    uint64_t mask : 8;
    Var var;

    Piece(Piece* rest, uint8_t bytes, Var v)
        : link(reinterpret_cast<uintptr_t>(rest) & kAddress), mask(bytes), var(v) {}
    Piece* next() const { return reinterpret_cast<Piece*>(link); }
    void set_next(Piece* p) { link = reinterpret_cast<uintptr_t>(p) & kAddress; }
    static constexpr uint64_t kAddress = (uint64_t{1} << 48) - 1;
  };
  static constexpr uintptr_t kLocked = 1;

  static constexpr unsigned kReadBit = 8, kClockBit = 16, kSlotBit = kClockBit + 32;
  static constexpr uint64_t kPeriod = ~uint64_t{0} << kClockBit;
  static constexpr uint64_t kNoPeriod = ~uint64_t{0};

  static uint64_t period_bits(OnlineEnv::Epoch e) {
    const bool fits = index(e.slot()) < (1U << (64 - kSlotBit)) - 1;
    return fits ? uint64_t{index(e.slot())} << kSlotBit | uint64_t{e.clock()} << kClockBit : kNoPeriod;
  }
  static uint64_t place_of(uint64_t tag) { return (tag >> kSlotBit) % kTags; }
  static OnlineEnv::Epoch period(const Thread& t) {
    if constexpr (requires { D::period(t); }) return D::period(t);
    return D::epoch(t);
  }

  // What is settled for writes is settled for reads.
  template <Op kOp>
  static uint64_t settled(uint64_t bytes) {
    return bytes << kReadBit | (kOp == Op::Write ? bytes : 0);
  }
  static void add_tag(uint64_t& place, uint64_t tag) {
    const bool extends = ((place ^ tag) & kPeriod) == 0;
    __atomic_store_n(&place, extends ? tag | place : tag, __ATOMIC_RELAXED);
  }
  // Whoever sees the number sees the tag that came with it or a later one, so a tag of ours has our number.
  static void put_latest(Cell& cell, uint64_t tag, OnlineEnv::Access a) {
    __atomic_store_n(&cell.tags[0], tag, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.tags[1], a.id, __ATOMIC_RELEASE);
  }
  static bool is_latest(const Cell& cell, uint64_t tag, OnlineEnv::Access a) {
    return __atomic_load_n(&cell.tags[1], __ATOMIC_ACQUIRE) == a.id &&
           __atomic_load_n(&cell.tags[0], __ATOMIC_RELAXED) == tag;
  }
  static void drop_tags(Cell& cell) {
    for (uint64_t& tag : cell.tags) __atomic_store_n(&tag, 0, __ATOMIC_RELAXED);
  }

  // How many there were.
  template <class F>
  static unsigned visit_pieces(Piece*& first, uint8_t mask, OnlineEnv& env, F&& f) {
    unsigned visited = 0;
    for (Piece* p = first; p != nullptr && mask != 0; p = p->next()) {
      const auto common = static_cast<uint8_t>(p->mask & mask);
      if (common == 0) continue;
      if (common != p->mask) tear(*p, common, env);
      env.look_at(common);
      f(p->var);
      ++visited;
      mask = static_cast<uint8_t>(mask & ~common);
    }
    if (mask == 0) return visited;
    first = new (env.allocate(sizeof(Piece))) Piece(first, mask, {});
    env.look_at(mask);
    f(first->var);
    return visited + 1;
  }

  // Pieces that have become alike are one again: where accesses overlap, tearing would have no end. Only these bytes have changed.
  static void mend(Piece* first, uint8_t bytes, OnlineEnv& env) {
    for (Piece* p = first; p != nullptr; p = p->next()) {
      Piece* before = p;
      for (Piece* other = p->next(); other != nullptr; other = before->next()) {
        if (((p->mask | other->mask) & bytes) == 0 || !D::same(p->var, other->var)) {
          before = other;
          continue;
        }
        p->mask = p->mask | other->mask;
        before->set_next(other->next());
        drop(other, env);
      }
    }
  }
  static void drop(Piece* p, OnlineEnv& env) {
    D::clear(p->var, env);
    env.deallocate(p, sizeof(Piece));
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
    const auto others = static_cast<uint8_t>(p.mask & ~uint64_t{common});
    p.set_next(new (env.allocate(sizeof(Piece))) Piece(p.next(), others, D::clone(p.var, env)));
    p.mask = common;
  }
};

}  // namespace pf::rt
