// How the history of a granule is kept for FastTrack: as a few words of 64 bits, two of them in its cell, which is enough
// for most of memory.
//
//   mark    ┌ accesses, 22 bits ┬ slot, 9 ┬ clock, 22 ┬ more? 1 ┬ write? 1 ┬ flag 0 ┬ bytes of the granule, 8 ┐
//   readers ┌ generation, 22    ┬ number of the set, 31 ┬ 0 ────┬ 1 ───────┬ flag 1 ┬ bytes ──────────────────┐
//   list    ┌ address / 16 ──────────────────┬ size ────┬ 0 ────┬ 0 ───────┬ flag 1 ┬ 0 ──────────────────────┐
//   pieces  ┌ address / 16 ──────────────────┬ 0 ───────┬ 1 ────┬ 0 ───────┬ flag 1 ┬ 0 ──────────────────────┐
//
// A byte has at most one write mark, and one read mark, those of two concurrent readers, or one set of concurrent readers (read_sets.h).
// Marks of one thread, epoch and kind are one mark, which knows what touched which byte (groups.h). The first word of a cell is always a
// mark, of the latest access if it can be; its flag is the granule's lock, and it tells whether there are more words than the
// two of the cell; the second one's tells whether all of those are of the same thread as the first. Then that thread does without looking at
// them while what it does has room in the cell, and they may know of bytes what is out of date (catch_up). They are in the granule's Rest, two again, or one and a list of 4, 8 or 16. The rests of a chunk are behind its cells: most
// of them are never touched, and where they are, neighbours have theirs together. What a thread has in its present epoch is in the cell, so that its next access sees it.
// Atomics and numbers that are too large for a mark are kept in pieces: bytes with the same past, and FastTrack's own variable.
//
// Variables of other detectors may be kept like that, too, if a CompactForm tells how they are made of words (compact_counts.h).
#pragma once
#include <cstring>
#include <iterator>
#include <utility>

#include "detect/fasttrack.h"
#include "runtime/chunks.h"
#include "runtime/env.h"
#include "runtime/groups.h"
#include "runtime/past.h"
#include "runtime/spin.h"
#include "runtime/told.h"

namespace pf::rt {

template <class D>
struct CompactForm;

template <class D>  // FastTrack, one with its variables, or one with a form of its own
class CompactStore {
 public:
  using Var = typename D::Var;
  using Form = CompactForm<D>;
  using Marks = typename Form::Marks;    // a variable made of marks,
  using Loaded = typename Form::Loaded;  // or of any words
  using Epoch = OnlineEnv::Epoch;
  struct alignas(16) Cell {
    uint64_t mark[2];
  };
  // Words that the cell has no room for.
  struct alignas(16) Rest {
    uint64_t mark[2];
  };
  static constexpr bool kIsDirect = Form::kIsDirect;
  static constexpr uintptr_t kBytesPerGranule = sizeof(Cell) + sizeof(Rest);
  static constexpr uintptr_t kRestsOffset = kGranulesPerChunk * sizeof(Cell);  // from a cell to its rest

  // What the hot path compares with: the thread's epoch as in a mark, and sets of readers that it is in at this epoch. A table that
  // all threads read has a set for each of its granules.
  struct Now {
    static constexpr uint64_t kSets = 1024;
    uint64_t epoch = kNoEpoch;
    uint64_t wanted = kNoEpoch;  // a mark of this epoch, a write, of all bytes
    uint64_t readers[kSets] = {};
    uint16_t latest[64] = {};  // places in use, while there are no more
    unsigned in_use = 0;

    static uint64_t place(uint64_t word) { return word >> kClockBit & (kSets - 1); }
    uint64_t known(uint64_t word) const { return readers[place(word)]; }
    void note(uint64_t word) {
      readers[place(word)] = word;
      if (in_use < std::size(latest)) latest[in_use] = static_cast<uint16_t>(place(word));
      ++in_use;
    }
    [[gnu::noinline]] void forget_readers() {
      if (in_use > std::size(latest)) {
        std::memset(readers, 0, sizeof readers);
      } else {
        for (unsigned i = 0; i < in_use; ++i) readers[latest[i]] = 0;
      }
      in_use = 0;
    }
  };
  static void renew(Now& now, const typename D::Thread& t) {
    const Epoch e = Form::epoch(t);
    const uint64_t epoch = fits(e) ? epoch_bits(e) : kNoEpoch;
    if (now.epoch == epoch) return;
    now.epoch = epoch;
    now.wanted = epoch | kWrite | kBytes;
    if (now.in_use != 0) now.forget_readers();
  }

  // [Read Same Epoch] and [Write Same Epoch] of FastTrack: a mark of this very epoch covers the bytes. A write covers reads
  // too: whoever races with the read races with the thread's own write before it in the same epoch. No lock: only the
  // thread itself writes marks of its own epoch. The latest mark is the first word.
  // Hot: one load, one compare.
  template <Op kOp>
  [[gnu::always_inline]] static bool latest_is_same_epoch(const Cell& cell, uint64_t bytes, const Now& now) {
    const uint64_t kind = kOp == Op::Write ? kWrite : 0;
    return ((now.wanted ^ __atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED)) & (kEpochMask | kind | bytes)) == 0;
  }
  // The same for the other word, which may also be a set of readers that the thread is in at this epoch.
  template <Op kOp>
  [[gnu::always_inline]] static bool other_is_same_epoch(const Cell& cell, uint64_t bytes, const Now& now) {
    const uint64_t kind = kOp == Op::Write ? kWrite : 0;
    const uint64_t word = __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED);
    if (((now.wanted ^ word) & (kEpochMask | kFlag | kind | bytes)) == 0) return true;
    return kOp == Op::Read && (((now.known(word) | bytes) ^ word) & (~kBytes | bytes)) == 0;
  }
  // Of a read, when each of two marks knows some of the bytes.
  [[gnu::always_inline]] static bool both_are_same_epoch(const Cell& cell, uint64_t bytes, const Now& now) {
    const Cell c = seen(cell);
    const uint64_t others = ((now.epoch ^ c.mark[0]) & kEpochMask) | ((now.epoch ^ c.mark[1]) & (kEpochMask | kFlag));
    return (others | (bytes & ~(c.mark[0] | c.mark[1]))) == 0;
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool same_epoch(const Cell& cell, uint64_t bytes, const Now& now) {
    if (latest_is_same_epoch<kOp>(cell, bytes, now)) [[likely]]
      return true;
    return other_is_same_epoch<kOp>(cell, bytes, now);
  }
  // After a read: if it joined a set of readers, the next one in this epoch is quick.
  static void note_readers(OnlineEnv& env, Now& now) {
    if (env.joined != 0) now.note(env.joined);
  }

  // What a granule had seen at a moment, if it can be told without its lock; equal only if nothing changed.
  struct Sight {
    uint64_t mark[2] = {kNoEpoch, kNoEpoch}, stamp = 0;
    friend bool operator==(const Sight&, const Sight&) = default;
    bool is_clear() const { return mark[0] != kNoEpoch; }
  };
  static Sight sight(const Cell& cell) {
    Sight s{{__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED), __atomic_load_n(&cell.mark[1], __ATOMIC_ACQUIRE)}};
    if (is_kept(s.mark[1])) s.stamp = __atomic_load_n(&kept(s.mark[1])->stamp, __ATOMIC_RELAXED);
    const bool is_told = (s.mark[0] & (kFlag | kMore)) == 0 && ((s.mark[1] & kFlag) == 0 || is_kept(s.mark[1]));
    return is_told ? s : Sight{};
  }

  // The same in one word, of granules that are kept in pieces; 0 of others. While somebody is at work there, it is what was before, until
  // there is something new. A place that was given up still has its last stamp; then it is of the moment when it was found.
  [[gnu::always_inline]] static uint64_t stamp(const Cell& cell) {
    const uint64_t word = __atomic_load_n(&cell.mark[1], __ATOMIC_ACQUIRE);
    return is_kept(word) ? __atomic_load_n(&kept(word)->stamp, __ATOMIC_RELAXED) : 0;
  }

  static bool empty(const Cell& cell) {
    return (__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) | __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)) == 0;
  }

  // Soon to be visited: what the cell points at may be far away.
  [[gnu::always_inline]] static void expect(const Cell& cell) {
    if ((__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) & kMore) != 0) __builtin_prefetch(rest(cell), 1);
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

  // Makes of the granule what the same deed made of one like it: in an array, what a rule made of one element it makes of the
  // next. No lock: a granule that is being changed has the flag, and no outcome is remembered with that. A signal's handler may
  // have its own outcome put in place while this one is read; its deed is then another, and is looked at last.
  [[gnu::always_inline]] static bool repeat(Cell& cell, const Deed& deed, const OnlineEnv& env) {
    const Cell old = seen(cell);
    if ((old.mark[1] & kFlag) != 0) return false;  // never remembered
    const Outcome& known = env.outcomes[place_of(old, deed)];
    if (known.old[0] != old.mark[0] || known.old[1] != old.mark[1]) return false;
    const Cell fresh = {
        {__atomic_load_n(&known.fresh[0], __ATOMIC_RELAXED), __atomic_load_n(&known.fresh[1], __ATOMIC_RELAXED)}};
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return known.deed == deed && replace(cell, old, fresh, env.is_alone);
  }

  // What settle() does, without the lock, for the usual case: two marks before, two after. By a thread in a Scope. False if it is another case.
  template <Op kOp>
  [[gnu::always_inline]] static bool settle_at_once(Cell& cell, uint8_t bytes, OnlineEnv::Access a, const Now& now,
                                                    const typename D::Thread& t, bool is_alone) {
    const Cell old = seen(cell);
    Cell fresh;
    return leaves_pair<kOp>(fresh, old, bytes, a, now, t) && replace(cell, old, fresh, is_alone);
  }
  // The same for one granule after the other of one access: what it made of the last one that it had all bytes of, it makes of the next that is
  // like it.
  struct Last {
    Cell old = {{kNoEpoch, kNoEpoch}}, fresh = {};
  };
  template <Op kOp>
  [[gnu::always_inline]] static bool settle_next_at_once(Cell& cell, uint8_t bytes, OnlineEnv::Access a, const Now& now,
                                                         const typename D::Thread& t, bool is_alone, Last& last) {
    const Cell old = seen(cell);
    const bool is_alike = bytes == kBytes && old.mark[0] == last.old.mark[0] && old.mark[1] == last.old.mark[1];
    if (is_alike) return replace(cell, old, last.fresh, is_alone);
    Cell fresh;
    if (!leaves_pair<kOp>(fresh, old, bytes, a, now, t) || !replace(cell, old, fresh, is_alone)) return false;
    if (bytes == kBytes) last = {old, fresh};
    return true;
  }
  // The same for all bytes of two granules, which mostly have the same past. Of those that are left over, false.
  template <Op kOp>
  [[gnu::always_inline]] static bool settle_both_at_once(Cell* cells, OnlineEnv::Access a, const Now& now,
                                                         const typename D::Thread& t, bool is_alone) {
    const Cell old = seen(cells[0]), other = seen(cells[1]);
    if (old.mark[0] != other.mark[0] || old.mark[1] != other.mark[1] || !fits_mark(a, now)) return false;
    Cell fresh = {{mark_of<kOp>(0xFF, a, now), 0}};
    return leave_pair(fresh, old, t) && replace(cells[0], old, fresh, is_alone) &&
           replace(cells[1], old, fresh, is_alone);
  }

  // Calls f, the rule of a plain access, with the variable of each part of the deed's bytes that has had the same accesses.
  template <Op kOp, class F>
  [[gnu::always_inline]] static void visit_plain(Cell& cell, const Deed& deed, OnlineEnv::Access a, const Now& now,
                                                 const typename D::Thread& t, OnlineEnv& env, F&& f) {
    const auto bytes = static_cast<uint8_t>(deed.what);
    const bool fits = Form::template fits<kOp>(a, now.epoch, env);
    const Cell old = lock(cell, env);
    if (!fits || is_kept(old.mark[1])) [[unlikely]] {
      visit_pieces(cell, old, bytes, env, f);
      return;
    }
    if constexpr (kIsDirect) {
      if (!settle(cell, old, mark_of<kOp>(bytes, a, now), t, env)) [[unlikely]]
        visit_words(cell, old, bytes, env, f);
      return;
    }
    if (!is_uniform(old, bytes)) [[unlikely]] {
      if (Form::visit_list(cell, old, bytes, env, f)) return;
      return visit_words(cell, old, bytes, env, f);
    }
    Marks x = Form::variable(old, bytes, env);
    env.look_at(bytes);
    f(x);
    Two words;
    Form::add_marks(words, x, bytes, env);
    words.add_rest(old.mark[0], bytes);
    words.add_rest(old.mark[1], bytes);
    if (words.fit && !Form::has_readers(x)) [[likely]] {
      if (env.found_count == 0) remember(old, {{words.first, words.second}}, deed, env);
      unlock(cell, words.first, words.second);
      return Form::unload(x, env);
    }
    const Marks copy = x;  // x itself stays in registers
    put_var(cell, old, bytes, copy, env);
  }

  // The same for any rule.
  template <class F>
  static void visit(Cell& cell, uint8_t bytes, OnlineEnv& env, F&& f) {
    visit_pieces(cell, lock(cell, env), bytes, env, f);
  }
  // The same for the rule of an atomic. The stamp of what it left, if there is one. `place` of the thread, for the next ones of this kind: it
  // is for this granule or vacant, or null.
  template <class F>
  [[gnu::always_inline]] static uint64_t visit_atomic(Cell& cell, uint8_t bytes, bool writes, OnlineEnv::Access a,
                                                      const Now& now, const typename D::Thread& t, OnlineEnv& env,
                                                      told::Place* place, F&& f) {
    const Cell old = lock(cell, env);
    if constexpr (kIsDirect) {
      if (is_few(old, bytes) && fits_mark(a, now)) [[likely]] {
        Few& marks = few(*kept(old.mark[1]));
        if (settle_few(marks, atomic_mark(bytes, a, now), writes, t, place)) [[likely]] {
          const uint64_t stamp = marks.head.stamp;
          unlock(cell, 0, old.mark[1]);
          return stamp;
        }
      }
    }
    return visit_pieces(cell, old, bytes, env, f);
  }

  // An atomic told in the thread's own place, if it has one there that nobody has taken. Not where that is for the first time.
  static bool was_told(const told::Place& place, bool writes, const Now& now) {
    return ((place.load(writes) ^ now.epoch) & kEpochMask) == 0 && now.epoch != kNoEpoch;
  }
  static bool is_alone(const told::Place& place, bool writes) {
    const uint64_t word = place.load(writes);
    return word != 0 && word != told::kTaken;
  }
  static bool tell_alone(told::Place& place, uint8_t bytes, bool writes, OnlineEnv::Access a, const Now& now) {
    if (!fits_mark(a, now)) return false;
    if (place.exchange(writes, atomic_mark(bytes, a, now)) != told::kTaken) return true;
    place.store(writes, told::kTaken);
    return false;
  }
  // What is in the place goes to the granule. The place is named nowhere afterwards.
  static void give_up(Cell& cell, told::Place& place, OnlineEnv& env) {
    if constexpr (kIsDirect) {
      const Cell old = lock(cell, env);
      if (place.is_named()) {
        Few& from = few(*kept(old.mark[1]));
        const bool fits = keep_here(from.reads, place.load(false)) && keep_here(from.writes, place.load(true));
        if (!fits) return visit_torn(cell, old, from.head.bytes, env, [](Var&) {});
        *named(from, &place) = nullptr;
      }
      unlock(cell, old.mark[0], old.mark[1]);
    }
  }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t bytes, OnlineEnv& env) {
    if (empty(cell)) return;
    const Cell old = lock(cell, env);
    if (bytes == kBytes && is_two_marks(old)) return unlock(cell, 0, 0);
    if (is_kept(old.mark[1])) {
      visit_pieces(cell, old, bytes, env, [&](auto& x) { D::clear(x, env); });
      return;
    }
    Words words;
    const uint64_t list = load(words, cell, old);
    for (unsigned i = 0; i < words.count; ++i) words.at[i] = without(words.at[i], bytes, env);
    put(cell, words, list, env);
  }

  // Forgets what is of epochs that all know: words, and pieces if there is nothing else.
  static void forget(Cell& cell, OnlineEnv& env, bool (*is_known)(Epoch e)) {
    if (empty(cell)) return;
    const Cell old = lock(cell, env);
    if (is_kept(old.mark[1])) {
      if (!are_known(*kept(old.mark[1]), is_known)) return unlock(cell, old.mark[0], old.mark[1]);
      visit_pieces(cell, old, kBytes, env, [&](auto& x) { D::clear(x, env); });
      return;
    }
    Words words;
    const uint64_t list = load(words, cell, old);
    for (unsigned i = 0; i < words.count; ++i) {
      if (is_word_known(words.at[i], is_known)) words.at[i] = without(words.at[i], kBytes, env);
    }
    put(cell, words, list, env);
  }

 private:
  friend Form;

  static constexpr unsigned kFlagBit = 8, kKindBit = 9, kMoreBit = 10, kClockBit = 11, kClockBits = 22, kSlotBits = 9;
  static constexpr unsigned kSlotBit = kClockBit + kClockBits, kAccessBit = kSlotBit + kSlotBits;
  static constexpr uint64_t kBytes = 0xFF, kFlag = 1U << kFlagBit, kWrite = 1U << kKindBit, kMore = 1U << kMoreBit;
  static constexpr uint64_t kEpochMask = ((uint64_t{1} << (kClockBits + kSlotBits)) - 1) << kClockBit;
  static constexpr uint64_t kSlotMask = ((uint64_t{1} << kSlotBits) - 1) << kSlotBit;
  static constexpr uint64_t kSameMark = kEpochMask | kWrite | kFlag;  // equal in marks that are one
  static constexpr uint64_t kNoEpoch = ~uint64_t{0};
  static constexpr uint64_t kList = kFlag, kKept = kFlag | 1U << 10;  // and an address above
  static constexpr unsigned kPointerBit = 16, kRoomBit = 11;
  static_assert(kAccessBit + groups::kCodeBits == 64 && kClockBits == Epoch::kClockBits);
  static_assert(sets::kGenerationBits + sets::kNumberBits + kClockBit == 64);

  // --- words ---

  static bool fits(Epoch e) { return index(e.slot()) < (1U << kSlotBits) - 1; }  // the last would look like kNoEpoch
  static uint64_t epoch_bits(Epoch e) {
    return uint64_t{index(e.slot())} << kSlotBit | uint64_t{e.clock()} << kClockBit;
  }
  static bool fits(const Mark<OnlineEnv>& m) { return fits(m.epoch) && m.access.id < 1U << groups::kCodeBits; }
  static uint64_t encode(const Mark<OnlineEnv>& m, uint64_t kind) {
    return uint64_t{m.access.id} << kAccessBit | epoch_bits(m.epoch) | kind;
  }
  static Slot slot(uint64_t mark) { return Slot{static_cast<uint32_t>(mark >> kSlotBit & ((1U << kSlotBits) - 1))}; }
  static Mark<OnlineEnv> decode(uint64_t mark) {
    const auto clock = static_cast<uint32_t>(mark >> kClockBit & ((1U << kClockBits) - 1));
    return {Epoch{slot(mark), clock}, {code(mark)}};
  }
  static groups::Code code(uint64_t mark) { return static_cast<groups::Code>(mark >> kAccessBit); }
  // Two marks of one thread, epoch and kind as one; 0 if that cannot be.
  static uint64_t merged(uint64_t one, uint64_t other) {
    if (!Form::may_be_one(code(one), code(other))) return 0;
    const groups::Code both =
        groups::combine(code(one), static_cast<uint8_t>(one), code(other), static_cast<uint8_t>(other));
    if (both == groups::kNone) return 0;
    Form::note_one(code(one), both);
    return uint64_t{both} << kAccessBit | (one & kSameMark) | ((one | other) & kBytes);
  }

  static bool is_readers(uint64_t word) { return (word & (kFlag | kWrite)) == (kFlag | kWrite); }
  static bool is_list(uint64_t word) { return (word & ((1U << kRoomBit) - 1)) == kList; }
  static bool is_kept(uint64_t word) { return (word & ((1U << kPointerBit) - 1)) == kKept; }
  static SetName readers(uint64_t word) {
    return {static_cast<uint32_t>(word >> kClockBit & ((1U << sets::kNumberBits) - 1)),
            static_cast<uint32_t>(word >> kAccessBit)};
  }
  static uint64_t readers_word(SetName s) {
    return uint64_t{s.generation} << kAccessBit | uint64_t{s.id} << kClockBit | kFlag | kWrite;
  }
  // Of `word`, what other bytes have had.
  static uint64_t without(uint64_t word, uint64_t bytes, OnlineEnv& env) {
    if ((word & kBytes & ~bytes) != 0) return word & ~bytes;
    if (is_readers(word)) sets::release(readers(word), *env.arena);
    return 0;
  }
  // Words that a granule's rest has no room for.
  static uint64_t* list(uint64_t word) { return reinterpret_cast<uint64_t*>(word >> kPointerBit << 4); }
  static unsigned room(uint64_t word) { return 4U << (word >> kRoomBit & 3); }
  static std::size_t list_bytes(uint64_t word) { return room(word) * sizeof(uint64_t); }
  static void forget_list(uint64_t word, OnlineEnv& env) {
    if (word != 0) env.deallocate(list(word), list_bytes(word));
  }
  static uint64_t pointer_word(const void* p, uint64_t kind) {
    return reinterpret_cast<uintptr_t>(p) >> 4 << kPointerBit | kind;
  }
  static uint64_t place_of(const Cell& old, const Deed& deed) {
    const uint64_t h = old.mark[0] ^ old.mark[1] * 3 ^ deed.pc ^ deed.what << 32;
    return h * 0x9E3779B97F4A7C15U >> 58;
  }
  static_assert(OnlineEnv::kOutcomes == 64);

  static bool fits_mark(OnlineEnv::Access a, const Now& now) {
    return now.epoch != kNoEpoch && a.id < 1U << groups::kCodeBits;
  }
  template <Op kOp>
  static uint64_t mark_of(uint8_t bytes, OnlineEnv::Access a, const Now& now) {
    return now.epoch | uint64_t{a.id} << kAccessBit | (writes(kOp) ? kWrite : 0) | bytes;
  }

  // --- the usual case: two marks before, two after ---

  // Each word for itself.
  [[gnu::always_inline]] static Cell seen(const Cell& cell) {
    return {{__atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED), __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)}};
  }
  [[gnu::always_inline]] static bool is_two_marks(const Cell& c) {
    return ((c.mark[0] & kMore) | (c.mark[1] & kFlag)) == 0;
  }
  // Both words are marks, each of all these bytes or of none.
  [[gnu::always_inline]] static bool is_uniform(const Cell& c, uint64_t bytes) {
    const uint64_t first = c.mark[0] & bytes, second = c.mark[1] & bytes;
    return is_two_marks(c) && (first == 0 || first == bytes) && (second == 0 || second == bytes);
  }

  struct Two {
    uint64_t first = 0, second = 0;
    bool fit = true;

    [[gnu::always_inline]] void add(uint64_t mark) {
      if (first == 0) {
        first = mark;
      } else if (((first ^ mark) & kSameMark) == 0) {
        merge(first, mark);
      } else if (second == 0) {
        second = mark;
      } else if (((second ^ mark) & kSameMark) == 0) {
        merge(second, mark);
      } else {
        fit = false;
      }
    }
    [[gnu::always_inline]] void merge(uint64_t& place, uint64_t mark) {
      if (((place ^ mark) & ~kBytes) == 0) {
        place |= mark;
        return;
      }
      const uint64_t both = merged(mark, place);  // the one in place is newer
      fit &= both != 0;
      place = both;
    }
    [[gnu::always_inline]] void add_rest(uint64_t mark, uint64_t bytes) {
      if ((mark & kBytes & ~bytes) != 0) add(mark & ~bytes);
    }
    [[gnu::always_inline]] void add(const Mark<OnlineEnv>& m, uint64_t kind, uint64_t bytes) {
      if (!m.epoch.never()) add(encode(m, kind) | bytes);
    }
  };

  // --- any number of words ---

  struct Words {
    static constexpr unsigned kMax = Form::kMaxWords;
    unsigned count = 0, latest = 0;
    uint64_t at[kMax];  // 0: free

    unsigned add(uint64_t word) {
      unsigned i = 0;
      while (i < count && at[i] != 0) ++i;
      count += i == count ? 1 : 0;
      at[i] = word;
      return i;
    }
    void push(uint64_t word) { at[count++] = word; }
  };

  // What an access meets that is no race, FastTrack's rules leave or drop whole: a write leaves only itself; a read leaves itself, the last
  // write, and the reads that it does not come after. So the words are changed as they are, wherever their bytes end. False, and nothing
  // is changed, where there may be a race, or more readers than marks are for.
  [[gnu::noinline]] static bool settle(Cell& cell, const Cell& old, uint64_t mark, const typename D::Thread& t,
                                       OnlineEnv& env) {
    const uint64_t bytes = mark & kBytes;
    Words words;
    const uint64_t list = load(words, cell, old);
    if ((mark & kWrite) == 0 && is_renewed(words, mark, t, env)) {
      unlock(cell, old.mark[0], old.mark[1]);
      return true;
    }
    uint64_t concurrent = 0;  // bytes that a reader has read whom this one does not come after
    uint64_t gone[kFewSets];
    unsigned count = 0, gone_count = 0;
    for (unsigned i = 0; i < words.count; ++i) {
      uint64_t word = words.at[i];
      if ((word & bytes) != 0) {
        const bool is_own = ((word ^ mark) & (kSlotMask | kFlag)) == 0;
        if ((mark & kWrite) != 0) {
          if (!is_own && !is_ordered(word, t)) return false;
          word &= ~bytes;
        } else if ((word & (kWrite | kFlag)) == kWrite) {
          if (!is_own && !is_ordered(word, t)) return false;
        } else if (is_own || is_ordered(word, t)) {
          word &= ~bytes;
        } else {
          if ((word & (kFlag | concurrent)) != 0) return false;
          concurrent |= word & bytes;
        }
        if ((word & kBytes) == 0) {
          if (gone_count == kFewSets) return false;
          gone[gone_count] = word;
          gone_count += static_cast<unsigned>(word >> kFlagBit & 1);  // of marks nothing is left
          continue;
        }
      }
      if (((word ^ mark) & kSameMark) != 0) {
        words.at[count] = word;
        count += is_past(word) ? 0 : 1;
        continue;
      }
      mark = ((word ^ mark) & ~kBytes) == 0 ? word | mark : merged(word, mark);
      if (mark == 0) return false;
    }
    if (count > Form::kMaxMore) return false;
    for (unsigned i = 0; i < gone_count; ++i) sets::release(readers(gone[i]), *env.arena);
    words.count = count;
    put_all(cell, old.mark[0] & kMore, list, mark, words, env);
    return true;
  }
  static constexpr unsigned kFewSets = 4;
  // A read by one of the readers of a set, of all bytes that the set is of. What else they remember can only be a write.
  [[gnu::always_inline]] static bool is_renewed(const Words& words, uint64_t mark, const typename D::Thread& t,
                                                OnlineEnv& env) {
    uint64_t set = 0;
    for (unsigned i = 0; i < words.count; ++i) {
      const uint64_t word = words.at[i];
      if ((word & mark & kBytes) == 0) continue;
      if (is_readers(word) && ((word ^ mark) & kBytes) == 0) {
        set = word;
      } else if ((word & (kWrite | kFlag)) != kWrite || !D::ordered(decode(word).epoch, t)) {
        return false;
      }
    }
    const auto is_before = [&](Epoch e) { return D::ordered(e, t); };
    if (set == 0 || !ReadSet<OnlineEnv>::renew(readers(set), decode(mark), is_before)) return false;
    env.joined = set;
    return true;
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool leaves_pair(Cell& fresh, const Cell& old, uint8_t bytes, OnlineEnv::Access a,
                                                 const Now& now, const typename D::Thread& t) {
    fresh = {{mark_of<kOp>(bytes, a, now), 0}};
    return fits_mark(a, now) && leave_pair(fresh, old, t);
  }
  // Of two marks, one may be left beside the access that `fresh` begins with; false if that is not enough, or they are no two marks. What is
  // behind them is left as it is, if it is the thread's own.
  [[gnu::always_inline]] static bool leave_pair(Cell& fresh, const Cell& old, const typename D::Thread& t) {
    const uint64_t more = old.mark[0] & kMore, bytes = fresh.mark[0] & kBytes;
    if (((old.mark[0] | old.mark[1]) & kFlag) != 0) return false;
    if (more != 0 && ((old.mark[1] & kMore) == 0 || ((old.mark[0] ^ fresh.mark[0]) & kSlotMask) != 0)) return false;
    if (!leave(fresh, old.mark[0] & ~kMore, bytes, t) || !leave(fresh, old.mark[1] & ~kMore, bytes, t)) return false;
    fresh.mark[0] |= more;
    fresh.mark[1] |= more;
    return true;
  }
  [[gnu::always_inline]] static bool leave(Cell& fresh, uint64_t word, uint64_t bytes, const typename D::Thread& t) {
    if ((word & bytes) != 0) {
      const bool is_ordered = ((word ^ fresh.mark[0]) & kSlotMask) == 0 || D::ordered(decode(word).epoch, t);
      const bool conflicts = ((word | fresh.mark[0]) & kWrite) != 0;
      if (!is_ordered && conflicts) return false;
      if (is_ordered && ((word & ~fresh.mark[0]) & kWrite) == 0) word &= ~bytes;
    }
    if ((word & kBytes) == 0) return true;
    if (((word ^ fresh.mark[0]) & kSameMark) == 0) {
      fresh.mark[0] = ((word ^ fresh.mark[0]) & ~kBytes) == 0 ? word | fresh.mark[0] : merged(word, fresh.mark[0]);
      return fresh.mark[0] != 0;
    }
    if (is_past(word)) return true;
    const bool has_room = fresh.mark[1] == 0;
    fresh.mark[1] = word;
    return has_room;
  }
  // Nothing can race with it any more. Of sets this is not asked.
  [[gnu::always_inline]] static bool is_past(uint64_t mark) {
    const auto clock = static_cast<past::Clock>(mark >> kClockBit & ((1U << kClockBits) - 1));
    return (mark & kFlag) == 0 && past::is_common(index(slot(mark)), clock);
  }
  // All that the word is of comes before what t does now.
  [[gnu::always_inline]] static bool is_ordered(uint64_t word, const typename D::Thread& t) {
    return (word & kFlag) == 0 ? D::ordered(decode(word).epoch, t) : are_ordered(readers(word), t);
  }
  [[gnu::noinline]] static bool are_ordered(SetName set, const typename D::Thread& t) {
    bool all = true;
    ReadSet<OnlineEnv>::of(set).for_each([&](const Mark<OnlineEnv>& m) { all = all && D::ordered(m.epoch, t); });
    return all;
  }
  [[gnu::always_inline]] static void remember(const Cell& old, const Cell& fresh, const Deed& deed, OnlineEnv& env) {
    env.outcomes[place_of(old, deed)] = {{old.mark[0], old.mark[1]}, {fresh.mark[0], fresh.mark[1]}, deed};
  }

  // Bytes with the same past.
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

  template <class F>
  [[gnu::noinline]] static void visit_words(Cell& cell, const Cell& old, uint64_t bytes, OnlineEnv& env, F&& f) {
    Words words;
    const uint64_t list = load(words, cell, old);
    if (Form::are_marks(words)) return visit_words_as<Marks>(cell, words, list, bytes, env, f);
    visit_words_as<Loaded>(cell, words, list, bytes, env, f);
  }
  template <class X, class F>
  [[gnu::always_inline]] static void visit_words_as(Cell& cell, Words& words, uint64_t list, uint64_t bytes,
                                                    OnlineEnv& env, F&& f) {
    X x{};
    const uint64_t part = take(words, bytes, x, env);
    env.look_at(part);
    f(x);
    Form::note_joined(x, env);
    if (part != bytes) visit_rest(words, bytes & ~part, env, f);
    Form::add(words, x, part, env);
    put(cell, words, list, env);
  }
  template <class F>
  [[gnu::noinline]] static void visit_rest(Words& words, uint64_t rest, OnlineEnv& env, F&& f) {
    Pieces parts;
    while (rest != 0) {
      Var x{};
      const uint64_t part = take(words, rest, x, env);
      env.look_at(part);
      f(x);
      Form::note_joined(x, env);
      parts.add(part, x);
      rest &= ~part;
    }
    add(words, parts, env);
  }
  static void add(Words& words, Pieces& parts, OnlineEnv& env) {
    for (unsigned i = 0; i < parts.count; ++i) Form::add(words, parts.at(i).var, parts.at(i).bytes, env);
  }

  [[gnu::noinline]] static void put_var(Cell& cell, const Cell& old, uint64_t bytes, Marks x, OnlineEnv& env) {
    Words words;
    for (const uint64_t mark : old.mark) {
      if ((mark & kBytes & ~bytes) != 0) words.add(mark & ~bytes);
    }
    Form::note_joined(x, env);
    Form::add(words, x, bytes, env);
    put(cell, words, 0, env);
  }

  static Rest* rest(const Cell& cell) {
    return reinterpret_cast<Rest*>(reinterpret_cast<uintptr_t>(&cell) + kRestsOffset);
  }
  // All words of a granule that is not in pieces; and the word of its list, if it has one.
  [[gnu::always_inline]] static uint64_t load(Words& words, const Cell& cell, const Cell& old) {
    const bool has_own = is_rest_own(old);
    if ((old.mark[0] & ~kMore) != 0) words.push(old.mark[0] & ~kMore);
    if (const uint64_t other = old.mark[1] & ~(has_own ? kMore : 0); other != 0) words.push(other);
    if ((old.mark[0] & kMore) == 0) return 0;
    const unsigned in_cell = words.count;
    const uint64_t list = load_rest(words, *rest(cell));
    if (has_own) catch_up(words, in_cell);
    return list;
  }
  // Whether all words behind a cell are of the thread that its first word is of.
  [[gnu::always_inline]] static bool is_rest_own(const Cell& c) {
    return kIsDirect && (c.mark[0] & kMore) != 0 && (c.mark[1] & (kMore | kFlag)) == kMore;
  }
  // Such words were not looked at when the thread did more: now they lose the bytes where something later is in their place.
  static void catch_up(Words& words, unsigned in_cell) {
    unsigned count = in_cell;
    for (unsigned i = in_cell; i < words.count; ++i) {
      uint64_t word = words.at[i];
      for (unsigned k = 0; k < in_cell; ++k) {
        if (is_in_place_of(words.at[k], word)) word &= ~(words.at[k] & kBytes);
      }
      words.at[count] = word;
      count += (word & kBytes) != 0 ? 1 : 0;
    }
    words.count = count;
  }
  // Of two of one thread: a later write is in place of all before it, a later read in place of reads.
  static bool is_in_place_of(uint64_t later, uint64_t word) {
    return ((later ^ word) & kSlotMask) == 0 && (later & kEpochMask) >= (word & kEpochMask) &&
           ((later | ~word) & kWrite) != 0;
  }
  [[gnu::always_inline]] static uint64_t load_rest(Words& words, const Rest& rest) {
    words.push(rest.mark[0]);
    if (!is_list(rest.mark[1])) {
      if (rest.mark[1] != 0) words.push(rest.mark[1]);
      return 0;
    }
    const uint64_t* more = list(rest.mark[1]);
    for (unsigned i = 0, n = room(rest.mark[1]); i < n && more[i] != 0; ++i) words.push(more[i]);
    return rest.mark[1];
  }

  // Takes from the words the largest part of `bytes` that has had the same accesses as the lowest of them.
  template <class X>  // Var, Marks or Loaded
  [[gnu::always_inline]] static uint64_t take(Words& words, uint64_t bytes, X& x, OnlineEnv& env) {
    const uint64_t lowest = bytes & -bytes;
    uint64_t part = bytes;
    for (unsigned i = 0; i < words.count; ++i) part &= (words.at[i] & lowest) != 0 ? words.at[i] : ~words.at[i];
    for (unsigned i = 0; i < words.count; ++i) {
      uint64_t& word = words.at[i];
      if ((word & part) == 0) continue;
      const bool all = (word & kBytes) == part;
      if (is_readers(word)) {
        const auto group = ReadSet<OnlineEnv>::of(readers(word));
        Form::set_readers(x, all ? group : group.clone(env), env);
      } else {
        Form::set(x, word, env);
      }
      word = all ? 0 : word & ~part;
    }
    return part;
  }

  [[gnu::always_inline]] static unsigned add_mark(Words& words, uint64_t mark) {
    for (unsigned i = 0; i < words.count; ++i) {
      if (((words.at[i] ^ mark) & kSameMark) != 0 || words.at[i] == 0) continue;
      const uint64_t both = ((words.at[i] ^ mark) & ~kBytes) == 0 ? words.at[i] | mark : merged(words.at[i], mark);
      if (both == 0) continue;
      words.at[i] = both;
      return i;
    }
    return words.add(mark);
  }
  static void add_readers(Words& words, uint64_t word, OnlineEnv& env) {
    for (unsigned i = 0; i < words.count; ++i) {
      if (((words.at[i] ^ word) & ~kBytes) != 0) continue;
      words.at[i] |= word;
      return sets::release(readers(word), *env.arena);
    }
    words.add(word);
  }

  // Stores the words in the simplest form that holds them, in place of what the granule had. Unlocks.
  static void put(Cell& cell, Words& words, uint64_t list, OnlineEnv& env) {
    uint64_t first = words.count != 0 && !is_readers(words.at[words.latest]) ? words.at[words.latest] : 0;
    if (first != 0) words.at[words.latest] = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < words.count; ++i) {
      const uint64_t word = words.at[i];
      if (word == 0) continue;
      if (first == 0 && !is_readers(word)) {
        first = word;
      } else {
        words.at[count++] = word;
      }
    }
    words.count = count;
    if (count > Form::kMaxMore) [[unlikely]]
      return keep_words(cell, words, first, list, env);
    put_all(cell, cell.mark[0] & kMore, list, first, words, env);
  }
  // `had_more`, `old_list`: what the granule had.
  [[gnu::always_inline]] static void put_all(Cell& cell, uint64_t had_more, uint64_t old_list, uint64_t first,
                                             Words& words, OnlineEnv& env) {
    if (words.count <= 1) {
      if (had_more != 0) *rest(cell) = {};
      forget_list(old_list, env);
      return unlock(cell, first, words.count == 0 ? 0 : words.at[0]);
    }
    bring_forward(first, words);
    Rest& more = *rest(cell);
    more.mark[0] = words.at[1];
    if (words.count <= 3) [[likely]] {
      more.mark[1] = words.count == 3 ? words.at[2] : 0;
      forget_list(old_list, env);
    } else {
      more.mark[1] = put_list(words.at + 2, words.count - 2, old_list, env);
    }
    unlock(cell, first | kMore, words.at[0] | own_bit(first, words));
  }
  static uint64_t own_bit(uint64_t first, const Words& words) {
    if (!kIsDirect) return 0;
    uint64_t others = words.at[0] & kFlag;
    for (unsigned i = 1; i < words.count; ++i) others |= (words.at[i] ^ first) & (kSlotMask | kFlag);
    return others == 0 ? kMore : 0;
  }
  // What the thread has in its present epoch goes into the cell.
  [[gnu::always_inline]] static void bring_forward(uint64_t first, Words& words) {
    for (unsigned i = 1; i < words.count; ++i) {
      if (((words.at[i] ^ first) & (kEpochMask | kFlag)) == 0) std::swap(words.at[0], words.at[i]);
    }
  }
  [[gnu::noinline]] static uint64_t put_list(const uint64_t* words, unsigned count, uint64_t old, OnlineEnv& env) {
    if (old == 0 || room(old) < count) {
      forget_list(old, env);
      const uint64_t size = (count > 4 ? 1U : 0U) + (count > 8 ? 1U : 0U);
      old = pointer_word(env.allocate((4U << size) * sizeof(uint64_t)), kList | size << kRoomBit);
    }
    uint64_t* to = list(old);
    for (unsigned i = 0; i < count; ++i) to[i] = words[i];
    if (count < room(old)) to[count] = 0;
    return old;
  }

  // --- pieces ---

  // More words than a list may have.
  [[gnu::noinline]] static void keep_words(Cell& cell, Words& words, uint64_t first, uint64_t list, OnlineEnv& env) {
    forget_list(list, env);
    if (first != 0) words.add(first);
    Pieces parts;
    take_all(words, 0, parts, env);
    keep(cell, parts, env);
  }

  struct Kept {
    uint32_t count;
    uint32_t bytes;  // of all, where there are no pieces (Few)
    uint64_t stamp;  // another one after each change
    Piece* at() { return reinterpret_cast<Piece*>(this + 1); }
  };
  static std::size_t kept_bytes(uint64_t count) { return sizeof(Kept) + count * sizeof(Piece); }
  static Kept* kept(uint64_t word) { return reinterpret_cast<Kept*>(word >> kPointerBit << 4); }

  // The usual past of an atomic: it is all that the granule has had, in few threads since it had to be told from what came before. Then a few
  // marks tell all, here and in places of the threads themselves (told.h). A Kept without pieces, for those who ask no more.
  struct alignas(64) Few {
    Kept head;
    uint64_t write, read;          // marks of the same bytes; 0: none
    uint64_t writes[2], reads[2];  // of atomics, of two slots at most
    told::Place* places[8];        // on a line of their own, which only they need
  };
  static_assert(sizeof(Few) == 128);
  static bool is_few(const Kept& pieces) { return pieces.count == 0; }
  static bool is_few(const Cell& c, uint64_t bytes) {
    return is_kept(c.mark[1]) && is_few(*kept(c.mark[1])) && kept(c.mark[1])->bytes == bytes;
  }
  static Few& few(Kept& pieces) { return reinterpret_cast<Few&>(pieces); }
  static uint64_t atomic_mark(uint64_t bytes, OnlineEnv::Access a, const Now& now) {
    return now.epoch | uint64_t{a.id} << kAccessBit | bytes;
  }

  // Where what an atomic conflicts with comes before it, its thread's place is for its mark. Where the thread has none, the mark goes in place of
  // the thread's last of its kind, or of one that comes before it: who races with that one races with this one, too. Unless there is one of
  // this epoch. False, and nothing is changed, where that is not so, or there is no room. The stamp stays: atomics do not meet each other, and
  // what a thread left in its present epoch stays as well, for nobody can come after that.
  [[gnu::always_inline]] static bool settle_few(Few& from, uint64_t mark, bool writes, const typename D::Thread& t,
                                                told::Place* place) {
    uint64_t* const marks = writes ? from.writes : from.reads;
    uint64_t* const to = room_in(marks, mark, t);
    if (to != nullptr && ((*to ^ mark) & kEpochMask) == 0) return true;
    if (!is_before(from.write, mark, t) || (writes && !is_before(from.read, mark, t))) return false;
    if (place != nullptr && has_place(from, *place)) {
      place->store(writes, mark);
      drop_own(marks, mark);
      return true;
    }
    if (to != nullptr) *to = mark;
    return to != nullptr;
  }
  [[gnu::always_inline]] static uint64_t* room_in(uint64_t* marks, uint64_t mark, const typename D::Thread& t) {
    for (unsigned i = 0; i < 2; ++i) {
      if (is_of_same(marks[i], mark)) return &marks[i];
    }
    for (unsigned i = 0; i < 2; ++i) {
      if (is_before(marks[i], mark, t)) return &marks[i];
    }
    return nullptr;
  }
  [[gnu::always_inline]] static bool is_before(uint64_t word, uint64_t mark, const typename D::Thread& t) {
    return word == 0 || ((word ^ mark) & kSlotMask) == 0 || D::ordered(decode(word).epoch, t);
  }
  static told::Place** named(Few& from, const told::Place* place) {
    for (told::Place*& p : from.places) {
      if (p == place) return &p;
    }
    return nullptr;
  }
  // Or gets one.
  static bool has_place(Few& from, told::Place& place) {
    if (named(from, &place) != nullptr) return true;
    told::Place** vacant = named(from, nullptr);
    if (vacant == nullptr) return false;
    place.store(false, 0);
    place.store(true, 0);
    *vacant = &place;
    return true;
  }
  // Marks of one thread, be it in two slots: the later one is in place of the other.
  static bool is_of_same(uint64_t word, uint64_t mark) {
    return word != 0 && (((word ^ mark) & kSlotMask) == 0 || have_one_entry<OnlineEnv>(slot(word), slot(mark)));
  }
  static void drop_own(uint64_t* marks, uint64_t mark) {
    if (is_of_same(marks[1], mark)) marks[1] = 0;
    if (is_of_same(marks[0], mark)) marks[0] = std::exchange(marks[1], 0);
  }
  // Whether there is room for it.
  static bool keep_here(uint64_t* marks, uint64_t mark) {
    if (mark == 0) return true;
    for (unsigned i = 0; i < 2; ++i) {
      if (marks[i] != 0 && !is_of_same(marks[i], mark)) continue;
      marks[i] = mark;
      return true;
    }
    return false;
  }

  // The other way: any variable, its atomics in a place of their own.
  // Nothing is left in places of threads.
  static Var load_few(Few& from, OnlineEnv& env) {
    Var x{};
    x.write = decode(from.write);
    x.reads.last = decode(from.read);
    auto& atomics = D::atomics_of(x, env);
    const auto load = [&](uint64_t word, bool writes) {
      if (word != 0) add_mark_of_atomic(writes ? atomics.writes : atomics.reads, decode(word), env);
    };
    for (const bool writes : {false, true}) {
      for (const uint64_t word : writes ? from.writes : from.reads) load(word, writes);
    }
    for (told::Place*& p : from.places) {
      if (p != nullptr) p->take(load);
    }
    return x;
  }
  static void add_mark_of_atomic(auto& marks, const Mark<OnlineEnv>& m, OnlineEnv& env) {
    if (marks.empty()) {
      marks.last = m;
    } else if (marks.map.empty()) {
      marks.share(m, env);
    } else {
      marks.map.put(m, env);
    }
  }
  // False if there are too many, or one cannot be told by a word.
  static bool store_few(uint64_t (&words)[2], const auto& marks, uint64_t bytes) {
    unsigned count = 0;
    bool fit = true;
    marks.for_each([&](const Mark<OnlineEnv>& m) {
      fit &= count < 2 && fits(m);
      if (fit) words[count++] = encode(m, 0) | bytes;
    });
    return fit;
  }
  static bool keep_few(Cell& cell, uint64_t bytes, Var& x, OnlineEnv& env) {
    if (x.atomics == nullptr || !x.reads.map.empty() || !fits(x.write) || !fits(x.reads.last)) return false;
    Few marks{};
    if (!x.write.epoch.never()) marks.write = encode(x.write, 0) | bytes;
    if (!x.reads.last.epoch.never()) marks.read = encode(x.reads.last, 0) | bytes;
    if (!store_few(marks.writes, x.atomics->writes, bytes) || !store_few(marks.reads, x.atomics->reads, bytes) ||
        (marks.writes[0] | marks.reads[0]) == 0)
      return false;
    marks.head.bytes = static_cast<uint32_t>(bytes);
    D::forget_atomics(x, env);
    auto* place = new (env.allocate(sizeof(Few))) Few(marks);
    __atomic_store_n(&place->head.stamp, env.fresh_stamp(), __ATOMIC_RELAXED);
    unlock(cell, 0, pointer_word(place, kKept));
    return true;
  }

  template <class F>
  [[gnu::noinline]] static uint64_t visit_pieces(Cell& cell, const Cell& old, uint64_t bytes, OnlineEnv& env, F&& f) {
    if (!is_kept(old.mark[1]) || !has_borders_of(*kept(old.mark[1]), bytes)) {
      visit_torn(cell, old, bytes, env, f);
      return 0;
    }
    Kept& pieces = *kept(old.mark[1]);
    unsigned count = 0, visited = 0;
    env.settled = 0;
    for (uint64_t i = 0; i < pieces.count; ++i) {
      Piece& p = pieces.at()[i];
      if ((p.bytes & bytes) != 0) {
        env.look_at(p.bytes);
        f(p.var);
        ++visited;
      }
      count += Form::words_of(p.var);
    }
    if (env.settled != visited) __atomic_store_n(&pieces.stamp, env.fresh_stamp(), __ATOMIC_RELAXED);
    if (count > Form::kMaxMore) {
      const uint64_t stamp = pieces.stamp;
      unlock(cell, 0, old.mark[1]);
      return stamp;
    }
    Pieces parts;
    take_apart(cell, old, bytes, parts, env);
    put_together(cell, parts, env);
    return 0;
  }

  static bool is_word_known(uint64_t word, bool (*is_known)(Epoch e)) {
    if (!is_readers(word)) return is_known(decode(word).epoch);
    return are_known(ReadSet<OnlineEnv>::of(readers(word)), is_known);
  }
  static bool are_known(const auto& marks, bool (*is_known)(Epoch e)) {
    bool all = true;
    marks.for_each([&](const Mark<OnlineEnv>& m) { all = all && is_known(m.epoch); });
    return all;
  }
  static bool are_known(Kept& pieces, bool (*is_known)(Epoch e)) {
    bool all = true;
    if constexpr (kIsDirect) {
      if (is_few(pieces)) {
        Few& f = few(pieces);
        const auto look = [&](uint64_t word) { all = all && (word == 0 || is_known(decode(word).epoch)); };
        for (const uint64_t word : {f.write, f.read, f.writes[0], f.writes[1], f.reads[0], f.reads[1]}) look(word);
        for (const told::Place* p : f.places) all = all && p == nullptr;  // else there may be a new one at any time
      }
    }
    for (uint64_t i = 0; i < pieces.count; ++i) {
      const Var& x = pieces.at()[i].var;
      all = all && (x.write.epoch.never() || is_known(x.write.epoch)) && are_known(x.reads, is_known);
      if (x.atomics != nullptr)
        all = all && are_known(x.atomics->writes, is_known) && are_known(x.atomics->reads, is_known);
    }
    return all;
  }

  // All of `bytes` are in pieces that have no other bytes.
  static bool has_borders_of(Kept& pieces, uint64_t bytes) {
    uint64_t inside = 0;
    for (uint64_t i = 0; i < pieces.count; ++i) {
      const uint64_t common = pieces.at()[i].bytes & bytes;
      if (common != 0 && common != pieces.at()[i].bytes) return false;
      inside |= common;
    }
    return inside == bytes;
  }

  template <class F>
  [[gnu::noinline]] static void visit_torn(Cell& cell, const Cell& old, uint64_t bytes, OnlineEnv& env, F&& f) {
    Pieces parts;
    take_apart(cell, old, bytes, parts, env);
    for (unsigned i = 0; i < parts.count; ++i) {
      if ((parts.at(i).bytes & bytes) == 0) continue;
      env.look_at(parts.at(i).bytes);
      f(parts.at(i).var);
    }
    put_together(cell, parts, env);
  }

  // All pieces of a granule, torn where `bytes` end within one, and new ones for those of `bytes` that had none. What the
  // granule had of references and memory is the pieces' or gone.
  static void take_apart(const Cell& cell, const Cell& old, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    if (is_kept(old.mark[1])) return take_kept(*kept(old.mark[1]), bytes, parts, env);
    Words words;
    forget_list(load(words, cell, old), env);
    take_all(words, bytes, parts, env);
  }
  static void take_all(Words& words, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    uint64_t all = bytes;
    for (unsigned i = 0; i < words.count; ++i) all |= words.at[i] & kBytes;
    while (all != 0) {
      Var x{};
      const uint64_t part = take(words, (all & bytes) != 0 ? all & bytes : all, x, env);
      parts.add(part, x);
      all &= ~part;
    }
  }

  static void take_kept(Kept& pieces, uint64_t bytes, Pieces& parts, OnlineEnv& env) {
    uint64_t rest = bytes;
    const auto take = [&](uint64_t of, const Var& x) {
      const uint64_t inside = of & bytes, outside = of & ~bytes;
      rest &= ~of;
      if (inside != 0 && outside != 0) parts.add(outside, D::clone(x, env));
      parts.add(inside != 0 ? inside : outside, x);
    };
    if constexpr (kIsDirect) {
      if (is_few(pieces)) take(pieces.bytes, load_few(few(pieces), env));
    }
    for (uint64_t i = 0; i < pieces.count; ++i) take(pieces.at()[i].bytes, pieces.at()[i].var);
    if (rest != 0) parts.add(rest, {});
    env.deallocate(&pieces, kIsDirect && is_few(pieces) ? sizeof(Few) : kept_bytes(pieces.count));
  }

  // As words if they can be. Unlocks.
  static void put_together(Cell& cell, Pieces& parts, OnlineEnv& env) {
    unsigned count = 0;
    for (unsigned i = 0; i < parts.count; ++i) count += Form::words_of(parts.at(i).var);
    if (count > Form::kMaxMore) return keep(cell, parts, env);
    Words words;
    add(words, parts, env);
    put(cell, words, 0, env);
  }

  [[gnu::noinline]] static void keep(Cell& cell, Pieces& parts, OnlineEnv& env) {
    if constexpr (TellsSame<D>) mend(parts, env);
    if ((cell.mark[0] & kMore) != 0) *rest(cell) = {};
    if constexpr (kIsDirect) {
      if (parts.count == 1 && keep_few(cell, parts.at(0).bytes, parts.at(0).var, env)) return;
    }
    auto* pieces = static_cast<Kept*>(env.allocate(kept_bytes(parts.count)));
    pieces->count = parts.count;
    __atomic_store_n(&pieces->stamp, env.fresh_stamp(), __ATOMIC_RELAXED);
    for (unsigned i = 0; i < parts.count; ++i) pieces->at()[i] = parts.at(i);
    unlock(cell, 0, pointer_word(pieces, kKept));
  }
  // Pieces that have become alike are one again: where accesses overlap, tearing would have no end.
  static void mend(Pieces& parts, OnlineEnv& env) {
    unsigned count = 0;
    for (unsigned i = 0; i < parts.count; ++i) {
      unsigned k = 0;
      while (k < count && !D::same(parts.at(k).var, parts.at(i).var)) ++k;
      if (k == count) {
        parts.at(count++) = parts.at(i);
      } else {
        parts.at(k).bytes |= parts.at(i).bytes;
        D::clear(parts.at(i).var, env);
      }
    }
    parts.count = count;
  }

  // --- the lock ---

  // What was there, without the lock. Who is alone needs none.
  [[gnu::always_inline]] static Cell lock(Cell& cell, const OnlineEnv& env) {
    if (kIsDirect && env.is_alone) return seen(cell);
    uint64_t first = __atomic_load_n(&cell.mark[0], __ATOMIC_RELAXED) & ~kFlag;
    for (unsigned round = 0;
         !__atomic_compare_exchange_n(&cell.mark[0], &first, first | kFlag, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         first &= ~kFlag) {
      relax(round++);
    }
    return {{first, __atomic_load_n(&cell.mark[1], __ATOMIC_RELAXED)}};
  }
  // The one for the other, at once, if nobody changed it.
  [[gnu::always_inline]] static bool replace(Cell& cell, const Cell& old, const Cell& fresh, bool is_alone) {
    if (is_alone) {
      unlock(cell, fresh.mark[0], fresh.mark[1]);
      return true;
    }
    __extension__ using Both = unsigned __int128;
    const auto both = [](const Cell& c) { return Both{c.mark[1]} << 64 | c.mark[0]; };
    return __sync_bool_compare_and_swap(reinterpret_cast<Both*>(&cell), both(old), both(fresh));
  }
  [[gnu::always_inline]] static void unlock(Cell& cell, uint64_t first, uint64_t second) {
    __atomic_store_n(&cell.mark[1], second, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.mark[0], first, __ATOMIC_RELEASE);
  }
};

// FastTrack's variables.
template <class D>
struct CompactForm {
  using Store = CompactStore<D>;
  using Var = typename D::Var;
  using Marks = Var;
  using Loaded = Var;
  static constexpr unsigned kMaxMore = 16,
                            kMaxWords = 3 * kMaxMore;  // but the first; of all parts of a granule, before they are one

  static constexpr bool kIsDirect = std::is_same_v<D, FastTrack<OnlineEnv>>;  // with its rules and no others

  static OnlineEnv::Epoch epoch(const typename D::Thread& t) { return D::epoch(t); }
  // Whether marks can tell of the access all that the rules will ask.
  template <Op>
  static bool fits(OnlineEnv::Access a, uint64_t period, OnlineEnv&) {
    return period != Store::kNoEpoch && a.id < 1U << groups::kCodeBits;
  }
  // Whether marks with these codes may become one, and which that is.
  static bool may_be_one(groups::Code, groups::Code) { return true; }
  static void note_one(groups::Code, groups::Code) {}

  // The variable of bytes that each of two marks is of, or not. Chosen by value: so it stays in registers.
  [[gnu::always_inline]] static Var variable(const auto& c, uint64_t bytes, OnlineEnv&) {
    const uint64_t a = (c.mark[0] & bytes) != 0 ? c.mark[0] : 0;
    const uint64_t b = (c.mark[1] & bytes) != 0 ? c.mark[1] : 0;
    const bool a_writes = (a & Store::kWrite) != 0, b_writes = (b & Store::kWrite) != 0;
    const uint64_t b_write = b_writes ? b : 0, b_read = b_writes ? 0 : b;
    Var x{};
    x.write = Store::decode(a_writes ? a : b_write);
    x.reads.last = Store::decode(!a_writes && a != 0 ? a : b_read);
    return x;
  }
  // The same for one of any number of words.
  [[gnu::always_inline]] static void set(Var& x, uint64_t mark, OnlineEnv& env) {
    if ((mark & Store::kWrite) != 0) {
      x.write = Store::decode(mark);
    } else if (x.reads.last.epoch.never()) {
      x.reads.last = Store::decode(mark);
    } else {
      x.reads.share(Store::decode(mark), env);  // marks of two that were concurrent
    }
  }
  static void set_readers(Var& x, ReadSet<OnlineEnv> readers, OnlineEnv&) { x.reads.map = readers; }

  // The other way round: when two marks may be enough,
  [[gnu::always_inline]] static void add_marks(auto& two, const Var& x, uint64_t bytes, OnlineEnv&) {
    two.add(x.reads.last, 0, bytes);
    two.add(x.write, Store::kWrite, bytes);
  }
  static bool are_marks(const auto& /*words*/) { return true; }  // or as if
  static bool visit_list(auto&, const auto&, uint64_t, OnlineEnv&, auto&&) { return false; }
  static bool has_readers(const Var& x) { return !x.reads.map.empty(); }
  static void unload(const Var&, OnlineEnv&) {}
  // and to any number of words. From here on the reference to a set belongs to its word.
  [[gnu::always_inline]] static void add(auto& words, const Var& x, uint64_t bytes, OnlineEnv& env) {
    if (!x.write.epoch.never()) words.latest = Store::add_mark(words, Store::encode(x.write, Store::kWrite) | bytes);
    if (!x.reads.last.epoch.never()) words.latest = Store::add_mark(words, Store::encode(x.reads.last, 0) | bytes);
    if (is_pair(x)) return add_reads(words, x.reads.map, bytes, env);
    if (has_readers(x)) Store::add_readers(words, Store::readers_word(x.reads.map.name()) | bytes, env);
  }
  // Only a read leaves a set of readers; if it is recorded, its thread is in it.
  static void note_joined(const Var& x, OnlineEnv& env) {
    if (has_readers(x) && !is_pair(x)) env.joined = Store::readers_word(x.reads.map.name());
  }
  // How many it takes at most; more than a list may have if it cannot be.
  static unsigned words_of(const Var& x) {
    const bool fits = x.atomics == nullptr && (x.write.epoch.never() || Store::fits(x.write)) &&
                      (x.reads.last.epoch.never() || Store::fits(x.reads.last));
    return fits ? 2 + (is_pair(x) ? 1 : 0) : kMaxMore + 1;
  }

 private:
  // Two readers are marks: what they do next is told without a set.
  static bool is_pair(const Var& x) {
    if (!kIsDirect || !has_readers(x)) return false;
    unsigned count = 0;
    bool fit = true;
    x.reads.map.for_each([&](const Mark<OnlineEnv>& m) {
      ++count;
      fit = fit && Store::fits(m);
    });
    return fit && count <= 2;
  }
  static void add_reads(auto& words, ReadSet<OnlineEnv> readers, uint64_t bytes, OnlineEnv& env) {
    readers.for_each(
        [&](const Mark<OnlineEnv>& m) { words.latest = Store::add_mark(words, Store::encode(m, 0) | bytes); });
    readers.clear(env);
  }
};

}  // namespace pf::rt
