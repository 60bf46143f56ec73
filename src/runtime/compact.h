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

  // Readers alone are in the second word.
  static bool empty(const Cell& cell) {
    return (__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) | __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)) == 0;
  }

  // Calls f with the variable of each part of these bytes that has had the same accesses.
  template <class F>
  [[gnu::always_inline]] static void visit(Cell& cell, uint8_t bytes, OnlineEnv& env, F&& f) {
    const Cell old = lock(cell);
    if (!is_uniform(old, bytes)) [[unlikely]]
      return visit_parts(cell, old, bytes, env, f);
    Var x{};
    set(x, old.mark[0], bytes);
    set(x, old.mark[1], bytes);
    f(x);
    Marks marks;
    marks.add_rest(old.mark[0], bytes);
    marks.add_rest(old.mark[1], bytes);
    marks.add(x.write, kWrite, bytes);
    marks.add(x.reads.last, 0, bytes);
    if (!marks.spilled && x.reads.map.empty() && x.atomics == nullptr) [[likely]]
      return unlock(cell, marks.first, marks.second);
    Pieces parts;
    parts.add(bytes, x);
    put_together(cell, old, bytes, parts, env);
  }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t bytes, OnlineEnv& env) {
    if (empty(cell)) return;
    const Cell old = lock(cell);
    if ((old.mark[1] & kFlag) == 0) {
      Marks marks;
      marks.add_rest(old.mark[0], bytes);
      marks.add_rest(old.mark[1], bytes);
      return unlock(cell, marks.first, marks.second);
    }
    Pieces parts, kept;
    take_apart(old, bytes, parts, env);
    for (unsigned i = 0; i < parts.count; ++i) {
      if ((parts.at(i).bytes & bytes) != 0) {
        D::clear(parts.at(i).var, env);
      } else {
        kept.add(parts.at(i).bytes, parts.at(i).var);
      }
    }
    put_together(cell, {}, 0, kept, env);
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
  class Pieces {
   public:
    unsigned count = 0;

    Piece& at(unsigned i) { return reinterpret_cast<Piece*>(raw_)[i]; }
    const Piece& at(unsigned i) const { return reinterpret_cast<const Piece*>(raw_)[i]; }
    Piece& add(uint64_t bytes, const Var& x) { return *new (&at(count++)) Piece{static_cast<uint8_t>(bytes), x}; }

   private:
    alignas(Piece) char raw_[8 * sizeof(Piece)];  // not initialized: most granules have one piece
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

  // The variable of bytes that the mark is of.
  [[gnu::always_inline]] static void set(Var& x, uint64_t mark, uint64_t bytes) {
    if ((mark & bytes) == 0) return;
    if ((mark & kWrite) != 0) {
      x.write = decode(mark);
    } else {
      x.reads.last = decode(mark);
    }
  }

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

  // No sets, no pieces, and each mark is of all these bytes or of none.
  [[gnu::always_inline]] static bool is_uniform(const Cell& c, uint64_t bytes) {
    const uint64_t first = c.mark[0] & bytes, second = c.mark[1] & bytes;
    return (c.mark[1] & kFlag) == 0 && (first == 0 || first == bytes) && (second == 0 || second == bytes);
  }

  template <class F>
  [[gnu::noinline]] static void visit_parts(Cell& cell, const Cell& old, uint8_t bytes, OnlineEnv& env, F& f) {
    Pieces parts;
    take_apart(old, bytes, parts, env);
    for (unsigned i = 0; i < parts.count; ++i) {
      if ((parts.at(i).bytes & bytes) == 0) continue;
      env.look_at(parts.at(i).bytes);
      f(parts.at(i).var);
    }
    put_together(cell, {}, 0, parts, env);
  }

  // All of a granule's pieces, torn where `bytes` end within one, and new ones for those of `bytes` that had none. The
  // references to sets that the granule had are the pieces' now.
  [[gnu::noinline]] static void take_apart(const Cell& old, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    if ((old.mark[1] & (kFlag | kWrite)) == kFlag) return take_apart(pointer(old.mark[1]), bytes, parts, env);
    const bool has_set = (old.mark[1] & kFlag) != 0;
    uint64_t all = ((old.mark[0] | old.mark[1]) & kBytes) | bytes;
    while (all != 0) {
      const uint64_t lowest = all & -all;
      uint64_t part = all & ((bytes & lowest) != 0 ? bytes : ~bytes);
      Var x{};
      for (unsigned i = 0; i < 2; ++i) {
        const uint64_t mark = old.mark[i];
        if ((mark & lowest) == 0) {
          part &= ~mark;
          continue;
        }
        part &= mark;
        if (i == 1 && has_set) {
          x.reads.map = ReadSet<OnlineEnv>::of(readers(mark)).clone(env);
        } else {
          set(x, mark, lowest);
        }
      }
      parts.add(part, x);
      all &= ~part;
    }
    if (has_set) sets::release(readers(old.mark[1]), *env.arena);
  }
  static void take_apart(Kept* kept, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    uint64_t rest = bytes;
    for (uint64_t i = 0; i < kept->count; ++i) {
      const Piece& p = kept->at()[i];
      const uint64_t inside = p.bytes & bytes, outside = p.bytes & ~bytes;
      rest &= ~uint64_t{p.bytes};
      if (inside != 0 && outside != 0) parts.add(outside, D::clone(p.var, env));
      parts.add(inside != 0 ? inside : outside, p.var);
    }
    if (rest != 0) parts.add(rest, {});
    env.deallocate(kept, kept_bytes(kept->count));
  }

  // Two marks at most, put together from many; `spilled` when there are more.
  struct Marks {
    uint64_t first = 0, second = 0;
    bool spilled = false;

    [[gnu::always_inline]] void add(uint64_t mark, uint64_t bytes) {
      if (first == 0 || (first & ~kBytes) == mark) {
        first |= mark | bytes;
      } else if (second == 0 || (second & ~kBytes) == mark) {
        second |= mark | bytes;
      } else {
        spilled = true;
      }
    }
    // Sets go second: the first word's flag is the lock.
    void add_readers(uint64_t mark, uint64_t bytes) {
      if (second != 0 && (second & ~kBytes) != mark) {
        spilled = true;
        return;
      }
      second |= mark | bytes;
    }
    // What is left of a mark outside of `bytes`.
    [[gnu::always_inline]] void add_rest(uint64_t mark, uint64_t bytes) {
      const uint64_t rest = mark & kBytes & ~bytes;
      if (rest != 0) add(mark & ~kBytes, rest);
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

  // Stores the parts, and what the old marks have outside of `bytes`; as marks if they are simple enough. Unlocks.
  [[gnu::noinline]] static void put_together(Cell& cell, const Cell& old, uint64_t bytes, Pieces& parts,
                                             OnlineEnv& env) {
    take_apart({{old.mark[0] & ~bytes, old.mark[1] & ~bytes}}, 0, parts, env);
    Marks marks;
    unsigned with_readers = 0;
    for (unsigned i = 0; i < parts.count; ++i) {
      const Piece& p = parts.at(i);
      marks.add(p.var.write, kWrite, p.bytes);
      marks.add(p.var.reads.last, 0, p.bytes);
      if (p.var.atomics != nullptr) marks.spilled = true;
    }
    for (unsigned i = 0; i < parts.count && !marks.spilled; ++i) {
      const Piece& p = parts.at(i);
      if (p.var.reads.map.empty()) continue;
      marks.add_readers(readers_mark(p.var.reads.map.name()), p.bytes);
      ++with_readers;
    }
    if (marks.spilled) return spill(cell, parts, env);
    for (; with_readers > 1; --with_readers) sets::release(readers(marks.second), *env.arena);  // the granule has one
    unlock(cell, marks.first, marks.second);
  }
  [[gnu::noinline]] static void spill(Cell& cell, const Pieces& parts, OnlineEnv& env) {
    auto* kept = static_cast<Kept*>(env.allocate(kept_bytes(parts.count)));
    kept->count = parts.count;
    for (unsigned i = 0; i < parts.count; ++i) kept->at()[i] = parts.at(i);
    // A first word that is not zero: the cell is not empty.
    unlock(cell, kWrite, pointer_mark(kept));
  }
};

}  // namespace pf::rt
