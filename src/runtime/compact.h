// How the history of a granule is kept for FastTrack: two marks in 16 bytes, which is enough for nearly all of memory. More
// than that (atomics, bytes with different pasts) becomes a list of pieces until it is simple again.
//
//   mark    ┌ access, 22 bits ┬ slot, 9 ┬ clock, 23 ┬ write? 1 ┬ flag, 1 ┬ bytes of the granule, 8 ┐
//   readers ┌ generation, 22  ┬ number of the set, 32 ┬ 1 ─────┬ 1 ──────┬ bytes ──────────────────┐
//   pieces  ┌ 0 ┬ address / 16 ───────────────────────┬ 0 ─────┬ 1 ──────┬ 0 ──────────────────────┐
//
// The flag of the first word is the granule's lock, that of the second says that it is no mark but a set of concurrent readers
// (read_sets.h) or a pointer to pieces. What has larger numbers than fit goes into pieces, which hold anything. A byte
// has at most one write mark, and one read mark or a set.
#pragma once

#include "detect/fasttrack.h"
#include "runtime/env.h"
#include "runtime/spin.h"

namespace pf::rt {

class CompactStore {
 public:
  using D = FastTrack<OnlineEnv>;
  using Var = D::Var;
  using Epoch = OnlineEnv::Epoch;
  struct Cell {
    uint64_t mark[2];
  };
  // A thread's epoch in the form of a mark; "never" if it has none.
  using Now = uint64_t;
  static Now now(const D::Thread& t) {
    const Epoch e = D::epoch(t);
    return fits(e) ? epoch_bits(e) : kNoEpoch;
  }

  // [Read Same Epoch] and [Write Same Epoch] of FastTrack: some mark of this very epoch covers the bytes; a write covers
  // reads too. Hot: two loads, two compares. No lock: only the thread itself writes marks of its own epoch.
  template <Op kOp>
  [[gnu::always_inline]] static bool same_epoch(const Cell& cell, uint8_t bytes, Now now) {
    const uint64_t kind = kOp == Op::Write ? kWrite : 0;
    const uint64_t relevant = kEpochMask | kind | bytes, wanted = now | kind | bytes;
    return (__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) & relevant) == wanted ||
           (__atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED) & (relevant | kFlag)) == wanted;
  }

  // Sets of readers that a thread knows it is in, at its present epoch.
  class Memberships {
   public:
    // Whether the bytes were read by the thread in this epoch, among others.
    bool has(const Cell& cell, uint8_t bytes, Now now) const {
      const uint64_t mark = __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED);
      return (mark & bytes) == bytes && now == now_ && sets_[place(mark)] == (mark & ~kBytes);
    }
    void add(const Cell& cell, Now now) {
      const uint64_t mark = __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED);
      if ((mark & (kFlag | kWrite)) != (kFlag | kWrite)) return;
      if (now != now_) *this = {};
      now_ = now;
      sets_[place(mark)] = mark & ~kBytes;
    }

   private:
    static constexpr unsigned kSets = 32;
    static unsigned place(uint64_t mark) { return static_cast<unsigned>(mark >> kClockBit) % kSets; }
    Now now_ = 0;
    uint64_t sets_[kSets] = {};
  };

  // Readers alone leave the first mark empty.
  static bool empty(const Cell& cell) {
    return (__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) | __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)) == 0;
  }

  // Calls f with the variable of each part of these bytes that has had the same accesses.
  template <class F>
  [[gnu::always_inline]] static void visit(Cell& cell, uint8_t bytes, OnlineEnv& env, F&& f) {
    Cell old = lock(cell);
    Pieces parts;
    if (!has_pieces(old)) [[likely]] {
      split(old, bytes, parts, env);
      for (unsigned i = 0; i < parts.count; ++i) f(parts.at[i].var);
    } else {
      take_apart(pointer(old.mark[1]), bytes, parts, env);
      for (unsigned i = 0; i < parts.count; ++i) {
        if ((parts.at[i].bytes & bytes) != 0) f(parts.at[i].var);
      }
      old = {};
    }
    put_together(cell, old, bytes, parts, env);
  }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t bytes, OnlineEnv& env) {
    if (empty(cell)) return;
    Cell old = lock(cell);
    Pieces parts;
    if (has_pieces(old)) [[unlikely]] {
      take_apart(pointer(old.mark[1]), bytes, parts, env);
      unsigned kept = 0;
      for (unsigned i = 0; i < parts.count; ++i) {
        if ((parts.at[i].bytes & bytes) != 0) {
          D::clear(parts.at[i].var, env);
        } else {
          parts.at[kept++] = parts.at[i];
        }
      }
      parts.count = kept;
      old = {};
    }
    put_together(cell, old, bytes, parts, env);
  }

 private:
  static constexpr unsigned kKindBit = 9, kClockBit = 10, kClockBits = 23, kSlotBits = 9, kAccessBits = 22;
  static constexpr unsigned kSlotBit = kClockBit + kClockBits, kAccessBit = kSlotBit + kSlotBits;
  static constexpr uint64_t kBytes = 0xFF, kFlag = 1U << 8, kWrite = 1U << kKindBit;
  static constexpr uint64_t kEpochMask = ((uint64_t{1} << (kClockBits + kSlotBits)) - 1) << kClockBit;
  static constexpr Now kNoEpoch = ~uint64_t{0};
  static_assert(kAccessBit + kAccessBits == 64);

  struct Piece {
    uint8_t bytes;
    Var var;
  };
  struct Pieces {
    unsigned count = 0;
    Piece at[8];
  };
  // Pieces in memory: a count and as many.
  struct Kept {
    uint64_t count;

    Piece* at() { return reinterpret_cast<Piece*>(this + 1); }
  };

  static bool fits(Epoch e) { return e.clock() < 1U << kClockBits && index(e.slot()) < 1U << kSlotBits; }
  static uint64_t epoch_bits(Epoch e) {
    return uint64_t{index(e.slot())} << kSlotBit | uint64_t{e.clock()} << kClockBit;
  }
  static bool fits(const Mark<OnlineEnv>& m) { return fits(m.epoch) && m.access.id < 1U << kAccessBits; }
  static uint64_t encode(const Mark<OnlineEnv>& m, uint64_t kind) {
    return uint64_t{m.access.id} << kAccessBit | epoch_bits(m.epoch) | kind;
  }
  static Mark<OnlineEnv> decode(uint64_t mark) {
    const Slot slot{static_cast<uint32_t>(mark >> kSlotBit & ((1U << kSlotBits) - 1))};
    const auto clock = static_cast<uint32_t>(mark >> kClockBit & ((1U << kClockBits) - 1));
    return {Epoch{slot, clock}, {static_cast<depot::Id>(mark >> kAccessBit)}};
  }

  static bool has_pieces(const Cell& c) { return (c.mark[1] & (kFlag | kWrite)) == kFlag; }
  static bool has_readers(const Cell& c) { return (c.mark[1] & (kFlag | kWrite)) == (kFlag | kWrite); }
  static Kept* pointer(uint64_t mark) { return reinterpret_cast<Kept*>(mark >> kClockBit << 4); }
  static uint64_t pointer_mark(const Kept* p) { return reinterpret_cast<uintptr_t>(p) >> 4 << kClockBit | kFlag; }
  static SetName readers(uint64_t mark) {
    return {static_cast<uint32_t>(mark >> kClockBit), static_cast<uint32_t>(mark >> kAccessBit)};
  }
  static uint64_t readers_mark(SetName s) {
    return uint64_t{s.generation} << kAccessBit | uint64_t{s.id} << kClockBit | kFlag | kWrite;
  }
  static std::size_t kept_bytes(uint64_t count) { return sizeof(Kept) + count * sizeof(Piece); }

  // What was there, without the lock.
  [[gnu::always_inline]] static Cell lock(Cell& cell) {
    uint64_t seen = __atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) & ~kFlag;
    for (unsigned round = 0;
         !__atomic_compare_exchange_n(&cell.mark[0], &seen, seen | kFlag, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         seen &= ~kFlag) {
      relax(round++);
    }
    return {{seen, __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)}};
  }
  [[gnu::always_inline]] static void unlock(Cell& cell, uint64_t first, uint64_t second) {
    __atomic_store_n(&cell.mark[1], second, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.mark[0], first, __ATOMIC_RELEASE);
  }

  // The variables of these bytes, out of two marks. Each has a reference of its own to its readers.
  [[gnu::always_inline]] static void split(const Cell& old, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    while (bytes != 0) {
      const uint64_t lowest = bytes & -bytes;
      uint64_t part = bytes;
      Piece& p = parts.at[parts.count++];
      p.var = {};
      for (unsigned i = 0; i < 2; ++i) {
        const uint64_t mark = old.mark[i];
        if ((mark & lowest) == 0) {
          part &= ~mark;
          continue;
        }
        part &= mark;
        if (i == 1 && (mark & kFlag) != 0) {
          p.var.reads.map = ReadSet<OnlineEnv>::of(readers(mark)).clone(env);
        } else {
          ((mark & kWrite) != 0 ? p.var.write : p.var.reads.last) = decode(mark);
        }
      }
      p.bytes = static_cast<uint8_t>(part);
      bytes &= ~part;
    }
  }

  // Two marks at most, put together from many; `spilled` when there are more.
  struct Marks {
    uint64_t at[2] = {0, 0};
    bool spilled = false;

    [[gnu::always_inline]] void add(uint64_t mark, uint64_t bytes) {
      for (uint64_t& place : at) {
        if (place == 0 || (place & ~kBytes) == mark) {
          place |= mark | bytes;
          return;
        }
      }
      spilled = true;
    }
    // Sets go second: the first word's flag is the lock.
    void add_readers(uint64_t mark, uint64_t bytes) {
      if (at[1] != 0 && (at[1] & ~kBytes) != mark) {
        spilled = true;
        return;
      }
      at[1] |= mark | bytes;
    }
    [[gnu::always_inline]] void add(const Mark<OnlineEnv>& m, uint64_t kind, uint64_t bytes) {
      if (m.epoch.never()) return;
      if (!fits(m)) [[unlikely]] {
        spilled = true;
        return;
      }
      add(encode(m, kind), bytes);
    }
  };

  // Stores the parts, and of the old marks what lies outside of `bytes`; as marks if they are simple enough. Unlocks.
  [[gnu::always_inline]] static void put_together(Cell& cell, const Cell& old, uint64_t bytes, const Pieces& parts,
                                                  OnlineEnv& env) {
    Marks marks;
    bool complex = has_readers(old);
    for (const uint64_t mark : old.mark) {
      if ((mark & kBytes & ~bytes) != 0) marks.add(mark & ~kBytes, mark & kBytes & ~bytes);
    }
    for (unsigned i = 0; i < parts.count; ++i) {
      const Piece& p = parts.at[i];
      marks.add(p.var.write, kWrite, p.bytes);
      marks.add(p.var.reads.last, 0, p.bytes);
      if (!p.var.reads.map.empty() || p.var.atomics != nullptr) complex = true;
    }
    if (!marks.spilled && !complex) [[likely]]
      return unlock(cell, marks.at[0], marks.at[1]);
    put_complex(cell, old, bytes, parts, env);
  }

  // The same where there are sets of readers or more than two marks. All references to sets are the parts'.
  [[gnu::noinline]] static void put_complex(Cell& cell, const Cell& old, uint64_t bytes, const Pieces& parts,
                                            OnlineEnv& env) {
    Pieces all = parts;
    split(old, (old.mark[0] | old.mark[1]) & kBytes & ~bytes, all, env);
    if (has_readers(old)) sets::release(readers(old.mark[1]), *env.arena);
    Marks marks;
    unsigned with_readers = 0;
    for (unsigned i = 0; i < all.count; ++i) {
      const Piece& p = all.at[i];
      marks.add(p.var.write, kWrite, p.bytes);
      marks.add(p.var.reads.last, 0, p.bytes);
      if (p.var.atomics != nullptr) marks.spilled = true;
    }
    for (unsigned i = 0; i < all.count && !marks.spilled; ++i) {
      const Piece& p = all.at[i];
      if (p.var.reads.map.empty()) continue;
      marks.add_readers(readers_mark(p.var.reads.map.name()), p.bytes);
      ++with_readers;
    }
    if (marks.spilled) return spill(cell, all, env);
    for (; with_readers > 1; --with_readers) sets::release(readers(marks.at[1]), *env.arena);  // the granule has one
    unlock(cell, marks.at[0], marks.at[1]);
  }

  [[gnu::noinline]] static void spill(Cell& cell, const Pieces& all, OnlineEnv& env) {
    auto* kept = static_cast<Kept*>(env.allocate(kept_bytes(all.count)));
    kept->count = all.count;
    for (unsigned i = 0; i < all.count; ++i) kept->at()[i] = all.at[i];
    // A first mark that is not zero: the cell is not empty.
    unlock(cell, kWrite, pointer_mark(kept));
  }

  // The pieces, torn where `bytes` ends within one, and new ones for bytes that had none.
  [[gnu::noinline]] static void take_apart(Kept* kept, uint8_t bytes, Pieces& parts, OnlineEnv& env) {
    uint8_t rest = bytes;
    for (uint64_t i = 0; i < kept->count; ++i) {
      Piece& p = kept->at()[i];
      const auto inside = static_cast<uint8_t>(p.bytes & bytes), outside = static_cast<uint8_t>(p.bytes & ~bytes);
      rest = static_cast<uint8_t>(rest & ~p.bytes);
      if (inside != 0 && outside != 0) parts.at[parts.count++] = {outside, D::clone(p.var, env)};
      parts.at[parts.count++] = {inside != 0 ? inside : outside, p.var};
    }
    if (rest != 0) parts.at[parts.count++] = {rest, {}};
    env.deallocate(kept, kept_bytes(kept->count));
  }
};

}  // namespace pf::rt
