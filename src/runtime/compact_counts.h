// SimpleLock's variables as words (compact.h): an entry of its queue is a mark. What a mark has no room for is known otherwise.
//
// - The epoch of a mark is the access's in the full order. The weak order ticks with it (core/hybrid.h), and who knows weakly of one tick of a weak
//   epoch knows of them all: so it serves for both.
// - How many locks protected the access goes with its number, which is of one operation with one chain of held locks: a byte for each. Marks become one only
//   if they have had as many. Should the count of an access not be what its number says, it is kept in pieces.
// - Entries of one byte are of different threads or kinds, since a queue has one entry of each. With longer queues all is in pieces.
//
// Reads without a lock, when several threads have them, are a set of readers, as with FastTrack; those with locks change too often for that.
#pragma once
#include <optional>

#include "detect/simplelock.h"
#include "runtime/compact.h"

namespace pf::rt {

template <>
struct CompactForm<SimpleLock<OnlineEnv>> {
  using D = SimpleLock<OnlineEnv>;
  using Store = CompactStore<D>;
  using Var = D::Var;
  using Entry = D::Entry;
  static constexpr bool kIsDirect = false;
  static constexpr unsigned kMaxMore = 8;  // past that, pieces, whose entries are changed in place, cost less
  static constexpr unsigned kMaxWords = 8 * (kMaxMore + 2);

  // A queue of marks, of which only what is asked for is decoded. A mark may be of more than the bytes that are looked at: when it
  // changes, it stays as it was for the others.
  class MarkQueue {
   public:
    static constexpr uint32_t kLength = 1;
    MarkQueue() = default;
    explicit MarkQueue(uint64_t bytes) : bytes_(bytes) {}
    uint32_t size() const { return count_; }
    Entry operator[](uint32_t i) const { return entry(marks_[i]); }
    uint64_t mark(uint32_t i) const { return marks_[i]; }
    void set(uint32_t i, const Entry& e) {
      leave(marks_[i]);
      marks_[i] = CompactForm::mark(e) | bytes_;
    }
    void push(const Entry& e, OnlineEnv&) { push_mark(CompactForm::mark(e) | bytes_); }
    void push_mark(uint64_t mark) { marks_[count_++] = mark; }
    void release(OnlineEnv&) {
      for (uint32_t i = 0; i < count_; ++i) leave(marks_[i]);
      count_ = 0;
    }
    void remove(uint32_t i) {
      leave(marks_[i]);
      for (--count_; i < count_; ++i) marks_[i] = marks_[i + 1];
    }

    // What is left of other bytes.
    void leave(uint64_t mark) {
      if ((mark & Store::kBytes & ~bytes_) != 0) left_[left_count_++] = mark & ~bytes_;
    }
    uint32_t left_size() const { return left_count_; }
    uint64_t left(uint32_t i) const { return left_[i]; }
    void strip() {
      for (uint32_t i = 0; i < count_; ++i) {
        leave(marks_[i]);
        marks_[i] &= ~Store::kBytes;
      }
    }

   private:
    static constexpr unsigned kRoom = kMaxMore + 2;  // those of the cell and its list, and one more
    uint64_t bytes_ = 0;
    uint32_t count_ = 0, left_count_ = 0;
    uint64_t marks_[kRoom], left_[kRoom];
  };
  struct Marks {
    MarkQueue seen;
  };
  struct Loaded : Var {
    ReadSet<OnlineEnv> set;  // of readers that it came from
  };

  static OnlineEpoch epoch(const D::Thread& t) {
    const bool is_one_clock = t.weak.slot == t.full.slot && t.weak.now == t.full.now;
    return is_one_clock ? D::period(t) : OnlineEpoch{Slot{1U << 30}, 1};  // which no mark has room for
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool fits(OnlineEnv::Access a, uint64_t period, OnlineEnv& env) {
    env.period = period;
    return period != Store::kNoEpoch && a.id < 1U << groups::kCodeBits && env.queue_length == 1 &&
           note_count(a.id, env.locks_for(env.held(), writes(kOp)));
  }
  static bool may_be_one(groups::Code a, groups::Code b) { return count(a) == count(b); }
  static void note_one(groups::Code of, groups::Code one) {
    __atomic_store_n(&g_counts[one], __atomic_load_n(&g_counts[of], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }

  [[gnu::always_inline]] static Marks variable(const auto& c, uint64_t bytes, OnlineEnv& env) {
    Marks x;
    if ((c.mark[1] & bytes) != 0) set(x, c.mark[1], env);
    if ((c.mark[0] & bytes) != 0) set(x, c.mark[0], env);
    return x;
  }
  [[gnu::always_inline]] static void set(Marks& x, uint64_t mark, OnlineEnv&) {
    x.seen.push_mark(mark & ~Store::kBytes);
  }
  [[gnu::always_inline]] static void set(Var& x, uint64_t mark, OnlineEnv& env) { x.seen.push(entry(mark), env); }
  static void set_readers(Marks&, ReadSet<OnlineEnv>, OnlineEnv&) {}  // has none
  static void set_readers(Loaded& x, ReadSet<OnlineEnv> readers, OnlineEnv& env) {
    x.set = readers;
    readers.for_each([&](const Mark<OnlineEnv>& m) { x.seen.push({{m.epoch, m.epoch, m.access}, 0, D::Read}, env); });
  }
  static void set_readers(Var& x, ReadSet<OnlineEnv> readers, OnlineEnv& env) {
    Loaded loaded{x, {}};
    set_readers(loaded, readers, env);
    x = loaded;
    readers.clear(env);
  }

  // The latest first.
  [[gnu::always_inline]] static void add_marks(auto& two, const Marks& x, uint64_t bytes, const OnlineEnv& env) {
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      if (is_new(x.seen.mark(i), env)) two.add(x.seen.mark(i) | bytes);
    }
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      if (!is_new(x.seen.mark(i), env)) two.add(x.seen.mark(i) | bytes);
    }
  }
  static bool are_marks(const auto& words) {
    bool any = false;
    for (unsigned i = 0; i < words.count; ++i) any |= (words.at[i] & Store::kFlag) != 0;
    return !any;
  }
  // The usual case where more than two marks are: each is of all these bytes or of none. False if it is another.
  template <class F>
  [[gnu::always_inline]] static bool visit_list(auto& cell, const auto& old, uint64_t bytes, OnlineEnv& env, F&& f) {
    if ((old.mark[0] & Store::kMore) == 0) return false;
    Marks x{MarkQueue(bytes)};
    typename Store::Words words;
    const uint64_t list = Store::load(words, cell, old);
    for (unsigned i = 0; i < words.count; ++i) {
      if (!take_uniform(x, words.at[i], bytes)) return false;
    }
    env.look_at(bytes);
    f(x);
    uint32_t latest = 0, alike = 0;
    for (uint32_t i = 0; i < x.seen.size(); ++i) latest = is_new(x.seen.mark(i), env) ? i : latest;
    for (uint32_t i = 0; i < x.seen.left_size(); ++i) alike |= is_new(x.seen.left(i), env);
    const uint32_t size = x.seen.size() + x.seen.left_size();
    words.count = 0;
    if (size > kMaxMore + 1 || x.seen.size() == 0 || alike != 0 || has_readers(x)) [[unlikely]]
      return put_anew(cell, words, list, x, bytes, env);
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      if (i != latest) words.push(x.seen.mark(i));
    }
    for (uint32_t i = 0; i < x.seen.left_size(); ++i) words.push(x.seen.left(i));
    Store::put_all(cell, Store::kMore, list, x.seen.mark(latest), words, env);
    return true;
  }
  [[gnu::always_inline]] static bool has_readers(const auto& x) {
    uint32_t readers = 0;
    for (uint32_t i = 0; i < x.seen.size(); ++i) readers += is_reader(x.seen[i]);
    return readers > 1;
  }
  static void unload(const Marks&, OnlineEnv&) {}

  [[gnu::always_inline]] static void add(auto& words, Marks& x, uint64_t bytes, OnlineEnv& env) {
    if (has_readers(x)) [[unlikely]]
      return add_loaded(words, x, bytes, env);
    for (uint32_t i = 0; i < x.seen.size(); ++i) add_mark(words, x.seen.mark(i) | bytes, env);
  }
  static void add(auto& words, Loaded& x, uint64_t bytes, OnlineEnv& env) {
    const bool many = has_readers(x);
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      if (!many || !is_reader(x.seen[i])) add_mark(words, mark(x.seen[i]) | bytes, env);
    }
    if (many) {
      Store::add_readers(words, readers(x, env) | bytes, env);
    } else {
      x.set.clear(env);
    }
    x.seen.release(env);
  }
  static void add(auto& words, Var& x, uint64_t bytes, OnlineEnv& env) {
    Loaded loaded{x, {}};
    add(words, loaded, bytes, env);
  }
  static void note_joined(const auto&, OnlineEnv&) {}  // readers() does

  static unsigned words_of(const Var& x) {
    if (x.seen.size() > kMaxMore || OnlineEnv::queue_length != 1) return kMaxMore + 1;
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      if (!is_mark(x.seen[i])) return kMaxMore + 1;
    }
    return x.seen.size();
  }

 private:
  [[gnu::always_inline]] static bool take_uniform(Marks& x, uint64_t word, uint64_t bytes) {
    const uint64_t common = word & bytes;
    if ((word & Store::kFlag) != 0 || (common != 0 && common != bytes)) return false;
    common == 0 ? x.seen.leave(word) : x.seen.push_mark(word);
    return true;
  }
  [[gnu::noinline]] static bool put_anew(auto& cell, auto& words, uint64_t list, Marks& x, uint64_t bytes,
                                         OnlineEnv& env) {
    x.seen.strip();
    for (uint32_t i = 0; i < x.seen.left_size(); ++i) words.add(x.seen.left(i));
    add(words, x, bytes, env);
    Store::put(cell, words, list, env);
    return true;
  }

  static constexpr uint32_t kMaxCount = 0xFE;
  static constinit inline uint8_t g_counts[1U << groups::kCodeBits] =
      {};  // by code: one more than the locks; 0 while it is not known

  static uint32_t count(groups::Code code) { return __atomic_load_n(&g_counts[code], __ATOMIC_RELAXED) - 1U; }
  [[gnu::always_inline]] static bool note_count(groups::Code code, uint32_t locks) {
    return count(code) == locks || note_count_anew(code, locks);
  }
  [[gnu::noinline]] static bool note_count_anew(groups::Code code, uint32_t locks) {
    uint8_t known = 0;
    return locks < kMaxCount && (__atomic_compare_exchange_n(&g_counts[code], &known, static_cast<uint8_t>(locks + 1),
                                                             false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                                 known == locks + 1);
  }

  static uint64_t mark(const Entry& e) {
    return Store::encode({e.full, e.access}, e.kind == D::Write ? Store::kWrite : 0);
  }
  static Entry entry(uint64_t mark) {
    const Mark<OnlineEnv> m = Store::decode(mark);
    return {{m.epoch, m.epoch, m.access},
            count(m.access.id) & D::kMaxLocks,
            (mark & Store::kWrite) != 0 ? D::Write : D::Read};
  }
  [[gnu::always_inline]] static void add_mark(auto& words, uint64_t mark, const OnlineEnv& env) {
    const unsigned at = Store::add_mark(words, mark);
    if (is_new(mark, env)) words.latest = at;
  }
  [[gnu::noinline]] static void add_loaded(auto& words, const Marks& marks, uint64_t bytes, OnlineEnv& env) {
    Loaded x{};
    for (uint32_t i = 0; i < marks.seen.size(); ++i) x.seen.push(marks.seen[i], env);
    add(words, x, bytes, env);
  }
  static bool is_mark(const Entry& e) {
    return (e.kind == D::Read || e.kind == D::Write) && Store::fits(Mark<OnlineEnv>{e.full, e.access}) &&
           e.weak.slot() == e.full.slot() && count(e.access.id) == e.locks;
  }
  static bool is_new(uint64_t mark, const OnlineEnv& env) { return (mark & Store::kEpochMask) == env.period; }
  static bool is_reader(const Entry& e) { return e.kind == D::Read && e.locks == 0; }

  // Whose mark in the set was superseded.
  static std::optional<Slot> gone_from(const Loaded& x) {
    std::optional<Slot> gone;
    x.set.for_each([&](const Mark<OnlineEnv>& m) {
      bool found = false;
      for (uint32_t i = 0; i < x.seen.size(); ++i) found |= is_reader(x.seen[i]) && x.seen[i].full == m.epoch;
      if (!found) gone = m.epoch.slot();
    });
    return gone;
  }
  // The set that it came from, with what has changed since.
  [[gnu::noinline]] static uint64_t readers(Loaded& x, OnlineEnv& env) {
    bool joined = false;
    for (uint32_t i = 0; i < x.seen.size(); ++i) {
      const Entry& e = x.seen[i];
      if (!is_reader(e)) continue;
      if (x.set.empty() || !x.set.has(e.full)) x.set.put({e.full, e.access}, env);
      joined |= is_new(mark(e), env);
    }
    while (const auto gone = gone_from(x)) x.set.remove(*gone, env);
    const uint64_t word = Store::readers_word(x.set.name());
    if (joined) env.joined = word;
    return word;
  }
};

}  // namespace pf::rt
