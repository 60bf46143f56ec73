// How the history of a granule is kept for FastTrack: as a few words of 64 bits, two of them in its cell, which is enough
// for most of memory.
//
//   mark    ┌ accesses, 22 bits ┬ slot, 9 ┬ clock, 23 ┬ write? 1 ┬ flag 0 ┬ bytes of the granule, 8 ┐
//   readers ┌ generation, 22    ┬ number of the set, 32 ┬ 1 ─────┬ flag 1 ┬ bytes ──────────────────┐
//   list    ┌ address / 16 ──────────────────┬ 0 ───────┬ 0 ─────┬ flag 1 ┬ 0 ──────────────────────┐
//   pieces  ┌ address / 16 ──────────────────┬ 1 ───────┬ 0 ─────┬ flag 1 ┬ 0 ──────────────────────┐
//
// A byte has at most one write mark, and one read mark or one set of concurrent readers (read_sets.h). Marks of one thread, epoch and
// kind are one mark, which knows what touched which byte (groups.h). The first word of a cell is always a mark, of the latest
// access if it can be, and its flag is the granule's lock; the second may be any of the four. A list has all words but the first.
// Atomics, and numbers that are too large for a mark, are kept in pieces: bytes with the same past, and FastTrack's own variable.
#pragma once
#include "detect/fasttrack.h"
#include "runtime/env.h"
#include "runtime/groups.h"
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

  // What the hot path compares with: the thread's epoch as in a mark, and sets of readers that it is in at this epoch.
  struct Now {
    uint64_t epoch = kNoEpoch;
    uint64_t readers[32] = {};

    uint64_t& place(uint64_t word) { return readers[word >> kClockBit & 31]; }
    uint64_t known(uint64_t word) const { return readers[word >> kClockBit & 31]; }
  };
  static void renew(Now& now, const D::Thread& t) {
    const Epoch e = D::epoch(t);
    const uint64_t epoch = fits(e) ? epoch_bits(e) : kNoEpoch;
    if (now.epoch != epoch) now = {epoch, {}};
  }

  // [Read Same Epoch] and [Write Same Epoch] of FastTrack: a mark of this very epoch covers the bytes. A write covers reads
  // too: whoever races with the read races with the thread's own write before it in the same epoch. No lock: only the
  // thread itself writes marks of its own epoch. The latest mark is the first word.
  // Hot: one load, one compare.
  template <Op kOp>
  [[gnu::always_inline]] static bool latest_is_same_epoch(const Cell& cell, uint8_t bytes, const Now& now) {
    const uint64_t kind = kOp == Op::Write ? kWrite : 0;
    return (__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) & (kEpochMask | kind | bytes)) ==
           (now.epoch | kind | bytes);
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool same_epoch(const Cell& cell, uint8_t bytes, const Now& now) {
    if (latest_is_same_epoch<kOp>(cell, bytes, now)) return true;
    const uint64_t kind = kOp == Op::Write ? kWrite : 0;
    const uint64_t second = __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED);
    if ((second & (kEpochMask | kFlag | kind | bytes)) == (now.epoch | kind | bytes)) return true;
    return kOp == Op::Read && (second & (~kBytes | bytes)) == (now.known(second) | bytes);
  }
  // After a read: if it joined a set of readers, the next one in this epoch is quick.
  static void note_readers(const Cell& cell, Now& now) {
    const uint64_t second = __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED);
    if (is_readers(second)) now.place(second) = second & ~kBytes;
  }

  static bool empty(const Cell& cell) {
    return (__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) | __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)) == 0;
  }

  // An access as marks have it; and f(access, byte) for each that a mark remembers of these bytes.
  static OnlineEnv::Access access(depot::Id id) { return {groups::code_of(id)}; }
  template <class F>
  static void for_each_access(OnlineEnv::Access a, uint8_t bytes, F&& f) {
    depot::Id before = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      if ((bytes >> byte & 1) == 0) continue;
      const depot::Id access = groups::access_at(a.id, byte);
      if (access != before) f(access, byte);
      before = access;
    }
  }

  // Calls f with the variable of each part of these bytes that has had the same accesses. f is the rule for the access:
  // in an array, what it made of one granule it makes of the next.
  template <class F>
  [[gnu::always_inline]] static void visit(Cell& cell, uint8_t bytes, OnlineEnv::Access a, OnlineEnv& env, F&& f) {
    const Cell old = lock(cell);
    const uint64_t key = env.knowledge << 40 | uint64_t{a.id} << 8 | bytes;
    OnlineEnv::Outcome& known =
        env.outcomes[((old.mark[0] ^ old.mark[1] * 3 ^ key) * 0x9E3779B97F4A7C15U >> 59) % OnlineEnv::kOutcomes];
    if (known.key == key && known.old[0] == old.mark[0] && known.old[1] == old.mark[1]) [[likely]]
      return unlock(cell, known.fresh[0], known.fresh[1]);
    if (!is_uniform(old, bytes)) [[unlikely]] {
      if ((old.mark[1] & (kFlag | kWrite | kTag)) == kFlag) return visit_list(cell, old, bytes, env, f);
      return visit_words(cell, old, bytes, env, f);
    }
    Var x = variable(old, bytes);
    env.look_at(bytes);
    f(x);
    Two words;
    words.add(x.reads.last, 0, bytes, env);
    words.add(x.write, kWrite, bytes, env);
    words.add_rest(old.mark[0], bytes, env);
    words.add_rest(old.mark[1], bytes, env);
    if (words.fit && x.reads.map.empty() && x.atomics == nullptr) [[likely]] {
      if (env.found_count == 0) known = {{old.mark[0], old.mark[1]}, {words.first, words.second}, key};
      return unlock(cell, words.first, words.second);
    }
    const Var copy = x;  // x itself stays in registers
    put_var(cell, old, bytes, copy, env);
  }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t bytes, OnlineEnv& env) {
    if (empty(cell)) return;
    const Cell old = lock(cell);
    if (bytes == kBytes && (old.mark[1] & kFlag) == 0) return unlock(cell, 0, 0);
    visit_words(cell, old, bytes, env, [&](Var& x) { D::clear(x, env); });
  }

 private:
  static constexpr unsigned kKindBit = 9, kClockBit = 10, kClockBits = 23, kSlotBits = 9;
  static constexpr unsigned kSlotBit = kClockBit + kClockBits, kAccessBit = kSlotBit + kSlotBits;
  static constexpr uint64_t kBytes = 0xFF, kFlag = 1U << 8, kWrite = 1U << kKindBit;
  static constexpr uint64_t kEpochMask = ((uint64_t{1} << (kClockBits + kSlotBits)) - 1) << kClockBit;
  static constexpr uint64_t kSameMark = kEpochMask | kWrite | kFlag;  // equal in marks that are one
  static constexpr uint64_t kNoEpoch = ~uint64_t{0};
  static constexpr uint64_t kTag = 1U << kClockBit;  // of a pointer: to pieces
  static constexpr unsigned kPointerBit = 16;
  static_assert(kAccessBit + groups::kCodeBits == 64);
  static_assert(sets::kGenerationBits + 32 + kClockBit == 64);

  // --- words ---

  static bool fits(Epoch e) { return e.clock() < 1U << kClockBits && index(e.slot()) < 1U << kSlotBits; }
  static uint64_t epoch_bits(Epoch e) {
    return uint64_t{index(e.slot())} << kSlotBit | uint64_t{e.clock()} << kClockBit;
  }
  static bool fits(const Mark<OnlineEnv>& m) { return fits(m.epoch) && m.access.id < 1U << groups::kCodeBits; }
  static uint64_t encode(const Mark<OnlineEnv>& m, uint64_t kind) {
    return uint64_t{m.access.id} << kAccessBit | epoch_bits(m.epoch) | kind;
  }
  static Mark<OnlineEnv> decode(uint64_t mark) {
    const Slot slot{static_cast<uint32_t>(mark >> kSlotBit & ((1U << kSlotBits) - 1))};
    const auto clock = static_cast<uint32_t>(mark >> kClockBit & ((1U << kClockBits) - 1));
    return {Epoch{slot, clock}, {code(mark)}};
  }
  static groups::Code code(uint64_t mark) { return static_cast<groups::Code>(mark >> kAccessBit); }
  // Two marks of one thread, epoch and kind as one; 0 if that cannot be.
  static uint64_t merged(uint64_t mark, uint64_t with, OnlineEnv& env) {
    const groups::Code both = groups::combine(code(mark), static_cast<uint8_t>(mark), code(with),
                                              static_cast<uint8_t>(with), env.group_steps);
    if (both == groups::kNone) return 0;
    return uint64_t{both} << kAccessBit | (mark & kSameMark) | ((mark | with) & kBytes);
  }

  static bool is_readers(uint64_t word) { return (word & (kFlag | kWrite)) == (kFlag | kWrite); }
  static bool is_pointer(uint64_t word) { return (word & (kFlag | kWrite)) == kFlag; }
  static SetName readers(uint64_t word) {
    return {static_cast<uint32_t>(word >> kClockBit), static_cast<uint32_t>(word >> kAccessBit)};
  }
  static uint64_t readers_word(SetName s) {
    return uint64_t{s.generation} << kAccessBit | uint64_t{s.id} << kClockBit | kFlag | kWrite;
  }
  static char* pointer(uint64_t word) { return reinterpret_cast<char*>(word >> kPointerBit << 4); }
  static uint64_t pointer_word(const void* p, uint64_t tag) {
    return reinterpret_cast<uintptr_t>(p) >> 4 << kPointerBit | tag | kFlag;
  }

  // The variable of bytes that each of two marks is of, or not. Chosen by value: so it stays in registers.
  [[gnu::always_inline]] static Var variable(const Cell& c, uint64_t bytes) {
    const uint64_t a = (c.mark[0] & bytes) != 0 ? c.mark[0] : 0;
    const uint64_t b = (c.mark[1] & bytes) != 0 ? c.mark[1] : 0;
    const bool a_writes = (a & kWrite) != 0, b_writes = (b & kWrite) != 0;
    Var x{};
    x.write = decode(a_writes ? a : b_writes ? b : 0);
    x.reads.last = decode(!a_writes && a != 0 ? a : b_writes ? 0 : b);
    return x;
  }
  // The same for one of any number of marks.
  [[gnu::always_inline]] static void set(Var& x, uint64_t mark, uint64_t bytes) {
    if ((mark & bytes) == 0) return;
    if ((mark & kWrite) != 0) {
      x.write = decode(mark);
    } else {
      x.reads.last = decode(mark);
    }
  }

  // --- the usual case: two marks before, two after ---

  // Both words are marks, each of all these bytes or of none.
  [[gnu::always_inline]] static bool is_uniform(const Cell& c, uint64_t bytes) {
    const uint64_t first = c.mark[0] & bytes, second = c.mark[1] & bytes;
    return (c.mark[1] & kFlag) == 0 && (first == 0 || first == bytes) && (second == 0 || second == bytes);
  }

  struct Two {
    uint64_t first = 0, second = 0;
    bool fit = true;

    [[gnu::always_inline]] void add(uint64_t mark, OnlineEnv& env) {
      if (first == 0) {
        first = mark;
      } else if (((first ^ mark) & kSameMark) == 0) {
        merge(first, mark, env);
      } else if (second == 0) {
        second = mark;
      } else if (((second ^ mark) & kSameMark) == 0) {
        merge(second, mark, env);
      } else {
        fit = false;
      }
    }
    [[gnu::always_inline]] void merge(uint64_t& place, uint64_t mark, OnlineEnv& env) {
      if (((place ^ mark) & ~kBytes) == 0) {
        place |= mark;
        return;
      }
      const uint64_t both = merged(mark, place, env);  // the one in place is newer
      fit &= both != 0;
      place = both;
    }
    [[gnu::always_inline]] void add_rest(uint64_t mark, uint64_t bytes, OnlineEnv& env) {
      if ((mark & kBytes & ~bytes) != 0) add(mark & ~bytes, env);
    }
    [[gnu::always_inline]] void add(const Mark<OnlineEnv>& m, uint64_t kind, uint64_t bytes, OnlineEnv& env) {
      if (m.epoch.never()) return;
      fit &= fits(m);
      add(encode(m, kind) | bytes, env);
    }
  };

  // --- the general case ---

  struct Words {
    static constexpr unsigned kMax = 32;
    unsigned count = 0;
    uint64_t at[kMax];
  };
  struct List {
    uint32_t count, capacity;
    uint64_t* at() { return reinterpret_cast<uint64_t*>(this + 1); }
  };
  struct Piece {
    uint64_t bytes;
    Var var;
  };
  struct Pieces {
    unsigned count = 0;
    alignas(Piece) char raw[8 * sizeof(Piece)];  // not initialized: most granules have few

    Piece& at(unsigned i) { return reinterpret_cast<Piece*>(raw)[i]; }
    void add(uint64_t bytes, const Var& x) { new (&at(count++)) Piece{bytes, x}; }
  };
  struct Kept {
    uint64_t count;
    Piece* at() { return reinterpret_cast<Piece*>(this + 1); }
  };
  static std::size_t list_bytes(uint32_t capacity) { return sizeof(List) + capacity * sizeof(uint64_t); }
  static std::size_t kept_bytes(uint64_t count) { return sizeof(Kept) + count * sizeof(Piece); }

  template <class F>
  [[gnu::noinline]] static void visit_words(Cell& cell, const Cell& old, uint8_t bytes, OnlineEnv& env, F&& f) {
    Pieces parts;
    take_apart(old, bytes, parts, env);
    for (unsigned i = 0; i < parts.count; ++i) {
      if ((parts.at(i).bytes & bytes) == 0) continue;
      env.look_at(parts.at(i).bytes);
      f(parts.at(i).var);
    }
    put_together(cell, bytes, parts, env);
  }

  // A list whose words are each of all these bytes or of none, and no set: changed where it is.
  template <class F>
  [[gnu::noinline]] static void visit_list(Cell& cell, const Cell& old, uint8_t bytes, OnlineEnv& env, F&& f) {
    auto* list = reinterpret_cast<List*>(pointer(old.mark[1]));
    Var x{};
    bool simple = is_all_or_none(old.mark[0], bytes);
    set(x, old.mark[0], bytes);
    for (uint32_t i = 0; i < list->count; ++i) {
      const uint64_t word = list->at()[i];
      simple &= is_all_or_none(word, bytes) && ((word & bytes) == 0 || (word & kFlag) == 0);
      set(x, word, bytes);
    }
    if (!simple) return visit_words(cell, old, bytes, env, f);
    env.look_at(bytes);
    f(x);
    Two latest;
    latest.add(x.reads.last, 0, bytes, env);
    latest.add(x.write, kWrite, bytes, env);
    Words rest;
    bool fit =
        latest.fit && x.reads.map.empty() && x.atomics == nullptr && add_rest(rest, latest, old.mark[0], bytes, env);
    for (uint32_t i = 0; i < list->count; ++i) fit = fit && add_rest(rest, latest, list->at()[i], bytes, env);
    if (!fit || rest.count + 1 > list->capacity) return put_var(cell, old, bytes, x, env);
    put_in(cell, list, latest, rest, env);
  }
  static bool is_all_or_none(uint64_t word, uint64_t bytes) { return (word & bytes) == 0 || (word & bytes) == bytes; }

  // What is left of a word outside of `bytes`: as part of one of the latest marks, or on its own.
  [[gnu::always_inline]] static bool add_rest(Words& rest, Two& latest, uint64_t word, uint64_t bytes, OnlineEnv& env) {
    if ((word & kBytes & ~bytes) == 0) return true;
    word &= ~bytes;
    if (((word ^ latest.first) & kSameMark) == 0 && latest.first != 0) {
      latest.merge(latest.first, word, env);
    } else if (((word ^ latest.second) & kSameMark) == 0 && latest.second != 0) {
      latest.merge(latest.second, word, env);
    } else {
      rest.at[rest.count++] = word;
    }
    return latest.fit;
  }

  static void put_in(Cell& cell, List* list, const Two& latest, const Words& rest, OnlineEnv& env) {
    uint32_t n = 0;
    if (latest.second != 0) list->at()[n++] = latest.second;
    for (unsigned i = 0; i < rest.count; ++i) list->at()[n++] = rest.at[i];
    list->count = n;
    if (n > 1 || latest.first == 0) return unlock(cell, latest.first, pointer_word(list, 0));
    const uint64_t second = n == 1 ? list->at()[0] : 0;
    env.deallocate(list, list_bytes(list->capacity));
    unlock(cell, latest.first, second);
  }

  [[gnu::noinline]] static void put_var(Cell& cell, const Cell& old, uint64_t bytes, const Var& x, OnlineEnv& env) {
    Pieces parts;
    parts.add(bytes, x);
    if (is_pointer(old.mark[1])) {
      auto* list = reinterpret_cast<List*>(pointer(old.mark[1]));
      for (uint32_t i = 0; i < list->count; ++i) list->at()[i] &= ~bytes;
      take_apart({{old.mark[0] & ~bytes, old.mark[1]}}, 0, parts, env);
    } else {
      split({2, {old.mark[0] & ~bytes, old.mark[1] & ~bytes}}, 0, parts, env);
    }
    put_together(cell, bytes, parts, env);
  }

  // All pieces of a granule, torn where `bytes` end within one, and new ones for those of `bytes` that had none. What the
  // granule had of references and memory is the pieces' or gone.
  static void take_apart(const Cell& old, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    if (!is_pointer(old.mark[1])) return split({2, {old.mark[0], old.mark[1]}}, bytes, parts, env);
    if ((old.mark[1] & kTag) != 0) return take_kept(pointer(old.mark[1]), bytes, parts, env);
    auto* list = reinterpret_cast<List*>(pointer(old.mark[1]));
    Words words;
    words.at[words.count++] = old.mark[0];
    for (uint32_t i = 0; i < list->count; ++i) words.at[words.count++] = list->at()[i];
    split(words, bytes, parts, env);
    env.deallocate(list, list_bytes(list->capacity));
  }

  static void split(const Words& words, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    uint64_t all = bytes;
    for (unsigned i = 0; i < words.count; ++i) all |= words.at[i] & kBytes;
    while (all != 0) {
      const uint64_t lowest = all & -all;
      uint64_t part = all & ((bytes & lowest) != 0 ? bytes : ~bytes);
      Var x{};
      for (unsigned i = 0; i < words.count; ++i) {
        const uint64_t word = words.at[i];
        if ((word & lowest) == 0) {
          part &= ~word;
          continue;
        }
        part &= word;
        if (i != 0 && is_readers(word)) {
          x.reads.map = ReadSet<OnlineEnv>::of(readers(word)).clone(env);
        } else {
          set(x, word, lowest);
        }
      }
      parts.add(part, x);
      all &= ~part;
    }
    for (unsigned i = 1; i < words.count; ++i) {
      if (is_readers(words.at[i])) sets::release(readers(words.at[i]), *env.arena);
    }
  }

  static void take_kept(char* p, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    auto* kept = reinterpret_cast<Kept*>(p);
    uint64_t rest = bytes;
    for (uint64_t i = 0; i < kept->count; ++i) {
      const Piece& piece = kept->at()[i];
      const uint64_t inside = piece.bytes & bytes, outside = piece.bytes & ~bytes;
      rest &= ~piece.bytes;
      if (inside != 0 && outside != 0) parts.add(outside, D::clone(piece.var, env));
      parts.add(inside != 0 ? inside : outside, piece.var);
    }
    if (rest != 0) parts.add(rest, {});
    env.deallocate(kept, kept_bytes(kept->count));
  }

  // Stores the pieces in the simplest form that holds them, those of `bytes` first. Unlocks.
  static void put_together(Cell& cell, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    Words words;
    for (const bool latest : {true, false}) {
      for (unsigned i = 0; i < parts.count; ++i) {
        const Piece& p = parts.at(i);
        if (((p.bytes & bytes) != 0) != latest) continue;
        if (!add(words, p, env)) return keep(cell, parts, env);
      }
    }
    add_readers(words, parts, env);
    put(cell, words, env);
  }

  static bool add(Words& words, const Piece& p, OnlineEnv& env) {
    return p.var.atomics == nullptr && add(words, p.var.reads.last, 0, p.bytes, env) &&
           add(words, p.var.write, kWrite, p.bytes, env);
  }
  static bool add(Words& words, const Mark<OnlineEnv>& m, uint64_t kind, uint64_t bytes, OnlineEnv& env) {
    if (m.epoch.never()) return true;
    if (!fits(m)) return false;
    const uint64_t mark = encode(m, kind) | bytes;
    for (unsigned i = 0; i < words.count; ++i) {
      if (((words.at[i] ^ mark) & kSameMark) != 0) continue;
      words.at[i] = ((words.at[i] ^ mark) & ~kBytes) == 0 ? words.at[i] | mark : merged(mark, words.at[i], env);
      return words.at[i] != 0;
    }
    words.at[words.count++] = mark;
    return true;
  }
  // Last, when it is sure that there will be words: from here on a reference belongs to its word.
  static void add_readers(Words& words, Pieces& parts, OnlineEnv& env) {
    const unsigned marks = words.count;
    for (unsigned i = 0; i < parts.count; ++i) {
      const Piece& p = parts.at(i);
      if (p.var.reads.map.empty()) continue;
      const uint64_t word = readers_word(p.var.reads.map.name());
      unsigned same = marks;
      while (same < words.count && (words.at[same] & ~kBytes) != word) ++same;
      if (same == words.count) {
        words.at[words.count++] = word | p.bytes;
      } else {
        words.at[same] |= p.bytes;
        sets::release(readers(word), *env.arena);
      }
    }
  }

  static void put(Cell& cell, const Words& words, OnlineEnv& env) {
    if (words.count == 0) return unlock(cell, 0, 0);
    const bool starts_with_mark = (words.at[0] & kFlag) == 0;
    const uint64_t first = starts_with_mark ? words.at[0] : 0;
    const unsigned from = starts_with_mark ? 1 : 0;
    if (words.count - from == 0) return unlock(cell, first, 0);
    if (words.count - from == 1) return unlock(cell, first, words.at[from]);
    const uint32_t count = words.count - from;
    const uint32_t capacity = count <= 3 ? 3 : count <= 7 ? 7 : count <= 15 ? 15 : 31;
    auto* list = static_cast<List*>(env.allocate(list_bytes(capacity)));
    list->count = count;
    list->capacity = capacity;
    for (uint32_t i = 0; i < count; ++i) list->at()[i] = words.at[from + i];
    unlock(cell, first, pointer_word(list, 0));
  }

  [[gnu::noinline]] static void keep(Cell& cell, Pieces& parts, OnlineEnv& env) {
    auto* kept = static_cast<Kept*>(env.allocate(kept_bytes(parts.count)));
    kept->count = parts.count;
    for (unsigned i = 0; i < parts.count; ++i) kept->at()[i] = parts.at(i);
    unlock(cell, 0, pointer_word(kept, kTag));
  }

  // --- the lock ---

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
};

}  // namespace pf::rt
