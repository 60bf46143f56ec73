// The online host: drives one detector from inside the target, on the program's own threads. It supplies what the rules must not know
// of: the shadow, per-granule atomicity, objects by address, thread slots.
//
// Serialization, as detector.h asks for it: a Thread is used by its owner (a condition's notifier and a joiner reach it
// under the condition's Line and after its end); Lock, Condition, Barrier, Semaphore and Atomic under their Line;
// Var under the lock of its granule.
#pragma once
#include "core/array.h"
#include "detect/detector.h"
#include "detect/library_fasttrack.h"
#include "detect/pacer.h"
#include "runtime/compact.h"
#include "runtime/compact_counts.h"
#include "runtime/found.h"
#include "runtime/host.h"
#include "runtime/lessons.h"
#include "runtime/literace.h"
#include "runtime/objects.h"
#include "runtime/online_library.h"
#include "runtime/owners.h"
#include "runtime/past.h"
#include "runtime/pieces.h"
#include "runtime/quiet.h"
#include "runtime/rest.h"
#include "runtime/sampler.h"
#include "runtime/sampling.h"
#include "runtime/sleep.h"
#include "runtime/told.h"
#include "runtime/tree.h"

namespace pf::rt {

// How a detector's variables are kept: as they are, or in a form of their own.
template <class D>
struct StoreOf {
  using Type = PieceStore<D>;
};
template <>
struct StoreOf<FastTrack<OnlineEnv>> {
  using Type = CompactStore<FastTrack<OnlineEnv>>;
};
template <>
struct StoreOf<LibraryFastTrack<OnlineEnv>> {
  using Type = CompactStore<LibraryFastTrack<OnlineEnv>>;
};
template <>
struct StoreOf<SimpleLock<OnlineEnv>> {
  using Type = CompactStore<SimpleLock<OnlineEnv>>;
};
template <>
struct StoreOf<Pacer<OnlineEnv>> {
  using Type = CompactStore<Pacer<OnlineEnv>>;
};

// What a host remembers of locks for a detector that tells potential races.
template <class D>
inline constexpr bool kIsHybrid = std::is_base_of_v<Hybrid<OnlineEnv>, D>;
template <class D, bool = kIsHybrid<D>>
struct Hindsight {
  using Lock = typename D::Lock;
  struct Lessons {
    static void forget(OnlineEnv&) {}
    static void inherit(const Lessons&, OnlineEnv&) {}
    static const Lesson* of(OnlineEpoch) { return nullptr; }
  };
  static void acquiring(auto&, uintptr_t, const Lock&, LockMode) {}
  static void releasing(auto&, Lock&, LockMode) {}
};
template <class D>
struct Hindsight<D, true> {
  struct Lock : D::Lock {
    Releases releases;
  };
  using Lessons = rt::Lessons;
  static void acquiring(auto& t, uintptr_t address, const Lock& l, LockMode mode) {
    t.lessons.take(t.state.full, address, l, l.releases, at_lock(t, mode), t.env);
  }
  static void releasing(auto& t, Lock& l, LockMode mode) {
    l.releases.note(at_lock(t, mode), D::period(t.state), t.env);
  }
};

template <template <class> class Template>
class OnlineHost {
 public:
  using Env = OnlineEnv;
  using D = Template<Env>;
  static_assert(Detector<D, Env>);
  static constexpr bool kSamples = Samples<D, Env>;
  using Store = typename StoreOf<D>::Type;
  using Cell = typename Store::Cell;

  // Locks and atomics are all that happens_before.h says of them; then what brings no news can be told by a glance.
  static constexpr bool kGlances = std::is_base_of_v<HappensBefore<Env, kSamples>, D>;
  // And, since nothing else is to be told of them between periods, what leaves them as they are is made without their Line.
  static constexpr bool kHolds = kGlances && kSamples;
  // Or, where each is to be told of once in an epoch, locks and atomics do without it, whatever they change.
  static constexpr bool kGrips = kGlances && !kSamples && !OrdersReadsAfterWrites<D, Env>;
  // Atomics also where more often nothing is to be told of them.
  static constexpr bool kGripsAtomics = kGrips || kHolds;

  // What an atomic did to the history of its memory, if the store can tell without a lock whether something else happened there since.
  static constexpr bool kRemembers = kGrips && requires(const Cell& cell) { Store::stamp(cell); };

  struct HostThread : Thread {
    typename Store::Now now;  // of state, as the hot path compares it; renewed whenever state may have ticked
    typename D::Thread state;
    Env env;
    uint64_t knowledge_after_sampling;  // what env.knowledge was when it saw a period begin or end
    [[no_unique_address]] typename Hindsight<D>::Lessons lessons;
    // Where objects were found, by their address (Glance).
    static constexpr uintptr_t kMetObjects = 1024;
    Object* met_objects[kGlances ? kMetObjects : 1];

    // Atomics at memory with a history that they leave as it is, while it is the same and the thread knows the same.
    struct SettledAtomic {
      uintptr_t access;
      typename Store::Sight sight;
      typename Env::Epoch knowledge;
    };
    static constexpr uintptr_t kSettledAtomics = 64;
    [[no_unique_address]] std::conditional_t<kHolds, SettledAtomic[kSettledAtomics], char> settled_atomics;

    // Atomics that were told, and how they left the granule.
    struct ToldAtomic {
      uintptr_t access;
      uint64_t stamp;
      typename Env::Epoch epoch;
    };
    static constexpr uintptr_t kToldAtomics = 64;
    [[no_unique_address]] std::conditional_t<kRemembers, ToldAtomic[kToldAtomics], char> told_atomics;
    told::Table* told;  // null while it has none; it stays with the pages of the thread

    Object*& met(uintptr_t address) { return met_objects[(address >> 3 ^ address >> 13) % kMetObjects]; }

    void renew() {
      Store::renew(now, state);
      env.learn();
      if constexpr (Store::kIsDirect) {
        if (past::is_time_to_show(*this)) [[unlikely]]
          show_knowledge();
      }
    }
    [[gnu::noinline]] void show_knowledge() {
      for (uint32_t i = 0, n = past::slots_to_show(); i < n; ++i) past::show(*this, Slot{i}, D::known(state, Slot{i}));
      past::look(*this);
    }
  };

  enum Kind : uint8_t { kLock = kFirstOfDetector, kCondition, kBarrier, kSemaphore, kAtomic, kReached };
  template <class State, uint8_t kOfKind>
  struct Kept : Object {
    static constexpr uint8_t kKind = kOfKind;
    uint64_t message;  // of tree.h
    State state;
  };
  using Lock = Kept<typename Hindsight<D>::Lock, kLock>;
  struct NotifiedCondition : D::Condition {
    rest::Notices notices{};
    sleep::Waiters sleepers{};
  };
  using Condition = Kept<NotifiedCondition, kCondition>;
  using Barrier = Kept<typename D::Barrier, kBarrier>;
  using Semaphore = Kept<typename D::Semaphore, kSemaphore>;
  using Atomic = Kept<typename D::Atomic, kAtomic>;
  template <class T>
  static constexpr bool kIsGripped = (kGrips && T::kKind == kLock) || (kGripsAtomics && T::kKind == kAtomic);
  template <class T>
  using ChangeOf = Change<kIsGripped<T>>;

  static HostThread& of(Thread& t) { return static_cast<HostThread&>(t); }

  // --- the filter in front ---

  // The thread sent or received something that orders. Of a lock only the exact filter takes note.
  template <class T>
  static void message(Thread& t, tree::Message what, T& object) {
    if (t.tree != nullptr) tree::note(*t.tree, what, object.message);
  }
  static void message(Thread& t) {
    if (t.tree != nullptr) tree::note_own(*t.tree);
  }
  static void message_of_atomic(Thread& t, Op op, MemoryOrder order, Atomic& object) {
    if (op != Op::AtomicStore && acquires(order)) message(t, tree::Message::Received, object);
    if (op != Op::AtomicLoad) message(t, tree::Message::Sent, object);
  }

  // Whether a filter that samples lets the access pass.
  template <Op kOp>
  static bool is_wanted(Thread& t, uintptr_t address, uintptr_t size) {
    return watched != nullptr || (!sampler::drops(t, address, size) && sampler::passes(t, kOp, address, size));
  }

  // --- sampling periods ---

  // At every entry into the runtime that may publish: a unit of work is done, and a period may have begun or ended.
  static void pass_time(HostThread& t) {
    if constexpr (kSamples) {
      sampling::work(t);
      look_at_period(t);
    }
  }
  [[gnu::always_inline]] static void look_at_period(HostThread& t) {
    if constexpr (kSamples) {
      if (t.period != sampling::period()) [[unlikely]]
        see_period(t);
    }
  }
  [[gnu::noinline, gnu::cold]] static void see_period(HostThread& t) {
    const Scope scope(t);
    const bool before = sampling::is_on(t.period);
    const bool has_sampled = before && !std::exchange(t.has_left_period, false);
    rest::forget_knowledge(t);
    if (!before) rest::may_sample();
    sampling::tell_late_work(t);
    t.period = sampling::period();
    t.env.sampling = sampling::is_on(t.period);
    if (!t.env.sampling) rest::samples_no_more(D::epoch(t.state), has_sampled);
    if (t.env.sampling == before) return;
    if (t.env.sampling) {
      rest::wait_for_operations();
      if constexpr (kSamples) D::begin_sampling(t.state, t.env);
      t.sampled_since = t.accesses;
    } else {
      t.sampled += t.accesses - t.sampled_since;
    }
    t.renew();
    t.knowledge_after_sampling = t.env.knowledge;
  }
  // What can be told at once; of bytes that lie otherwise is_spared() will tell.
  template <unsigned kSize>
  [[gnu::always_inline]] static bool is_unsampled(uintptr_t address) {
    if constexpr (kSize == 16) {
      const Cell* cell = &hot_cell(address);
      return (address & 7) == 0 && (address & kInChunk) <= kInChunk - 15 && Store::empty(cell[0]) &&
             Store::empty(cell[1]);
    }
    return (address & 7) + kSize <= 8 && Store::empty(hot_cell(address));
  }
  // In vain in one granule; after a few of these, in the block. Threads share what they count there: only now and then.
  [[gnu::noinline]] static void look_for_history(Thread& t, uintptr_t address) {
    constexpr unsigned kNowAndThen = 8;
    if (static_cast<uint32_t>(t.accesses) * 0x9E3779B9U > ~uint32_t{0} / kNowAndThen) return;
    if (!quiet::is_worth_a_search(address)) return;
    const Scope scope(t);
    search(address);
  }
  static void search(uintptr_t address) {
    if (!quiet::begin_search(address)) return;
    const uintptr_t first = address & ~(quiet::kBlock - 1);
    bool found = false;
    for (uintptr_t g = first; g < first + quiet::kBlock + quiet::kLongestAccess && !found; g += 8)
      found = !Store::empty(hot_cell(g));
    quiet::end_search(address, found);
  }
  static void forget_block(Thread& t, uintptr_t block) {
    for (uintptr_t g = block; g < block + quiet::kBlock; g += 8)
      Store::forget(hot_cell(g), of(t).env, &rest::is_known_to_all);
  }
  // Between periods, nothing to do for memory that was never sampled.
  static bool is_spared(HostThread& t, uintptr_t address, uintptr_t size) {
    look_at_period(t);
    if (!kSamples || sampling::is_on(t.period)) return false;
    if (quiet::are_quiet(t, address, size)) return true;
    for (uintptr_t g = address & ~uintptr_t{7}; g < address + size; g += 8) {
      if (!Store::empty(hot_cell(g))) return false;
    }
    return true;
  }

  // --- plain accesses ---

  // What the hot path needs of what threads share. Copies of its code have a copy of this, too (near.h).
  struct Shared {
    const char* no_cells;
    const uint32_t* period;
  };
  static constexpr Shared shared() { return {kNoCells, &sampling::g_period}; }
  struct Here {
    static Thread* watched() { return rt::watched; }
    static Shared shared() { return OnlineHost::shared(); }
  };

  template <Op kOp, unsigned kSize>
  [[gnu::always_inline]] static void access(uintptr_t address, uintptr_t pc) {
    if (is_known<kOp, kSize, Here>(address, pc)) [[likely]]
      return;
    access_unknown<kOp, kSize>(address, pc);
  }

  // Whether the access is nothing new; then it is counted, and all is done.
  // Hot: one load to find the cell, one of its latest mark, one compare.
  template <Op kOp, unsigned kSize, class From>
  [[gnu::always_inline]] static bool is_known(uintptr_t address, uintptr_t /*pc*/) {
    Thread* t = From::watched();
    if (t == nullptr) [[unlikely]]
      return false;
    if constexpr (kSamples) {
      const uint8_t block = quiet::look(*t, address);
      if (block == quiet::kQuiet) [[likely]] {
        ++t->accesses;
        return true;
      }
      if (block == quiet::kUntouched || t->period != __atomic_load_n(From::shared().period, __ATOMIC_RELAXED))
        return false;
    }
    const Cell* cell = &hot_cell(From::shared().no_cells, address);
    if (!is_in_whole_cells<kSize>(address)) [[unlikely]]
      return is_known_across<kOp, kSize>(*t, cell, address);
    if (!Store::template same_epoch<kOp>(cell[0], whole_mask_at<kSize>(address & 7), of(*t).now)) return false;
    if (kSize == 16 && !Store::template same_epoch<kOp>(cell[1], 0xFF, of(*t).now)) return false;
    ++t->accesses;
    return true;
  }
  // Of bytes in two granules, as unaligned accesses have them.
  template <Op kOp, unsigned kSize>
  [[gnu::always_inline]] static bool is_known_across(Thread& t, const Cell* cell, uintptr_t address) {
    if (kSize == 16 || (address & kInChunk) > kInChunk - 15) return false;
    const unsigned both = ((1U << kSize) - 1) << (address & 7);
    if (!Store::template latest_is_same_epoch<kOp>(cell[0], static_cast<uint8_t>(both), of(t).now) ||
        !Store::template latest_is_same_epoch<kOp>(cell[1], static_cast<uint8_t>(both >> 8), of(t).now))
      return false;
    ++t.accesses;
    return true;
  }
  template <unsigned kSize>
  [[gnu::always_inline]] static bool is_in_whole_cells(uintptr_t address) {
    if constexpr (kSize == 16) return (address & 7) == 0 && (address & kInChunk) <= kInChunk - 15;
    return (address & 7) + kSize <= 8;
  }

  // It is not, or not for sure. Warm: what is like something just done.
  template <Op kOp, unsigned kSize>
  [[gnu::noinline]] static void access_unknown(uintptr_t address, uintptr_t pc) {
    Thread* t = watched;
    if (t == nullptr) [[unlikely]]
      return access_unwatched<kOp>(address, kSize, pc);
    ++t->accesses;
    if constexpr (kSamples) {
      if (t->period != sampling::period()) [[unlikely]]
        return access_slow<kOp>(*t, address, kSize, pc);
      if (quiet::look(*t, address) == quiet::kUntouched) return access_slow<kOp>(*t, address, kSize, pc);
      if (!sampling::is_on(t->period) && is_unsampled<kSize>(address)) return look_for_history(*t, address);
    }
    // What the program is about to wait for; after a locked instruction of ours it would be too late to wait for both at once.
    __builtin_prefetch(reinterpret_cast<const void*>(address), writes(kOp));
    if (!is_in_whole_cells<kSize>(address)) {
      if constexpr (Store::kIsDirect && kSize < 16) return access_across<kOp, kSize>(of(*t), address, pc);
      return access_scattered<kOp>(*t, address, kSize, pc);
    }
    Cell* cell = &hot_cell(address);
    Store::expect(*cell);
    if constexpr (Store::kIsDirect) return access_new<kOp, kSize>(of(*t), *cell, address, pc);
    const Deed deed = deed_of(of(*t), pc, packed(kOp, kSize)).to(mask_at<kSize>(address & 7));
    if (kSize <= 8 && t->tree != nullptr && t->tree->rest == 0 && is_dropped_early(*t, address, pc, packed(kOp, kSize)))
      return;
    if constexpr (kSize == 16) {
      if (is_nothing_new<kOp>(of(*t), cell[0], deed) && is_nothing_new<kOp>(of(*t), cell[1], deed)) return;
    } else {
      if (is_repeated<kOp>(of(*t), *cell, deed)) return;
    }
    access_slow<kOp, kSize != 16>(*t, address, kSize, pc);
  }
  // The same for a store that changes words without the rules.
  template <Op kOp, unsigned kSize>
  [[gnu::always_inline]] static void access_new(HostThread& t, Cell& cell, uintptr_t address, uintptr_t pc) {
    const uint32_t what = packed(kOp, kSize);
    if (!is_told<kOp>(t) || is_of_nothing(cell)) [[unlikely]]
      return access_slow<kOp>(t, address, kSize, pc);
    if (kOp == Op::Read && kSize < 16 && Store::both_are_same_epoch(cell, mask_at<kSize>(address & 7), t.now)) return;
    const Scope scope(t);
    const depot::Id id = describe(t, pc, what);
    if constexpr (kSize < 16) return access_whole<kOp>(t, cell, mask_at<kSize>(address & 7), id, address);
    if (!settle_both<kOp>(t, &cell, id, address)) access_apart<kOp>(t, &cell, id, address);
  }
  // The same of bytes in two granules.
  template <Op kOp, unsigned kSize>
  [[gnu::noinline]] static void access_across(HostThread& t, uintptr_t address, uintptr_t pc) {
    Cell* cells = &hot_cell(address);
    if (!is_told<kOp>(t) || (address & kInChunk) > kInChunk - 15 || is_of_nothing(*cells)) [[unlikely]]
      return access_scattered<kOp>(t, address, kSize, pc);
    Store::expect(cells[0]);
    Store::expect(cells[1]);
    const unsigned both = ((1U << kSize) - 1) << (address & 7);
    const auto low = static_cast<uint8_t>(both), high = static_cast<uint8_t>(both >> 8);
    const bool is_low_new = is_new<kOp>(t, cells[0], low), is_high_new = is_new<kOp>(t, cells[1], high);
    if (!is_low_new && !is_high_new) return;
    const Scope scope(t);
    const depot::Id id = describe(t, pc, packed(kOp, kSize));
    if (is_low_new) access_whole<kOp>(t, cells[0], low, id, address);
    if (is_high_new) access_whole<kOp>(t, cells[1], high, id, (address | 7) + 1);
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool is_new(const HostThread& t, const Cell& cell, uint8_t bytes) {
    return !same_epoch<kOp>(t, cell, bytes) && (kOp != Op::Read || !Store::both_are_same_epoch(cell, bytes, t.now));
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool is_told(const HostThread& t) {
    return (writes(kOp) ? t.ignore_writes : t.ignore_reads) == 0 && t.tree == nullptr;
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool settle_both(HostThread& t, Cell* cells, depot::Id id, uintptr_t at) {
    const bool is_in_one_block = (at & (owners::kBlockBytes - 1)) <= owners::kBlockBytes - 16;
    return is_in_one_block &&
           change_at_once(t, owned_block(*cells, at), [&](bool is_alone) __attribute__((always_inline)) {
             return Store::template settle_both_at_once<kOp>(cells, Store::access(id), t.now, t.state, is_alone);
           });
  }
  // Without a lock of the granule.
  template <class F>
  [[gnu::always_inline]] static bool change_at_once(HostThread& t, owners::Block& block, F&& f) {
    bool is_done = false, is_own = false;
    {
      const owners::Visit visit(t, block);
      is_own = visit.is_own();
      is_done = f(is_own);
    }
    if (!is_own) owners::note_locked(t, block);
    return is_done;
  }
  template <Op kOp>
  [[gnu::noinline]] static void access_apart(HostThread& t, Cell* cells, depot::Id id, uintptr_t at) {
    for (unsigned i = 0; i < 2; ++i) {
      if (!same_epoch<kOp>(t, cells[i], 0xFF)) access_whole<kOp>(t, cells[i], 0xFF, id, at + uintptr_t{8} * i);
    }
  }
  template <Op kOp>
  [[gnu::always_inline]] static void access_whole(HostThread& t, Cell& cell, uint8_t bytes, depot::Id id,
                                                  uintptr_t at) {
    const bool is_done = change_at_once(t, owned_block(cell, at), [&](bool is_alone) __attribute__((always_inline)) {
      return Store::template settle_at_once<kOp>(cell, bytes, Store::access(id), t.now, t.state, is_alone);
    });
    if (!is_done) access_locked<kOp>(t, cell, bytes, id, at);
  }
  template <Op kOp>
  [[gnu::noinline]] static void access_locked(HostThread& t, Cell& cell, uint8_t bytes, depot::Id id, uintptr_t at) {
    in_block(t, cell, at, [&] { access_granule<kOp>(t, cell, Deed{}.to(bytes), Store::access(id), at); });
    report(t, id);
  }
  // By the tree filter. What it has not met it will be told of in access_slow().
  static bool is_dropped_early(Thread& t, uintptr_t address, uintptr_t pc, uint32_t what) {
    return is_context_known(t) && tree::is_known(*t.tree, tree::known(t, address, pc, what));
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool is_nothing_new(HostThread& t, Cell& cell, const Deed& deed) {
    return is_repeated<kOp>(t, cell, deed) || same_epoch<kOp>(t, cell, static_cast<uint8_t>(deed.what));
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool is_repeated(HostThread& t, Cell& cell, const Deed& deed) {
    if (kSamples && Store::empty(cell)) return false;  // it would have history
    const bool may_repeat = is_context_known(t) && (writes(kOp) ? t.ignore_writes : t.ignore_reads) == 0;
    return may_repeat && !is_of_nothing(cell) && Store::repeat(cell, deed, t.env);
  }
  // The same where no byte is in the next granule: a word, or compilers would shift a byte of one.
  template <unsigned kSize>
  static constexpr uint64_t whole_mask_at(uintptr_t offset) {
    return kSize >= 8 ? 0xFF : ((1U << kSize) - 1) << offset;
  }
  template <unsigned kSize>
  static constexpr uint8_t mask_at(uintptr_t offset) {
    return kSize >= 8 ? 0xFF : static_cast<uint8_t>(((1U << kSize) - 1) << offset);
  }

  // Any bytes.
  template <Op kOp>
  [[gnu::noinline]] static void access_scattered(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    if (!same_epoch<kOp>(t, address, size)) access_slow<kOp>(t, address, size, pc);
  }
  template <Op kOp>
  static bool same_epoch(Thread& t, uintptr_t address, uintptr_t size) {
    const uintptr_t end = address + size;
    for (uintptr_t g = address & ~uintptr_t{7}; g < end; g += 8) {
      if (!same_epoch<kOp>(of(t), hot_cell(g), mask_in(g, address, end))) return false;
    }
    return true;
  }
  template <Op kOp>
  [[gnu::always_inline]] static bool same_epoch(const HostThread& t, const Cell& cell, uint8_t mask) {
    return Store::template same_epoch<kOp>(cell, mask, t.now);
  }

  // With kIsNew: of one granule, where the access was looked for in vain.
  template <Op kOp, bool kIsNew = false>
  [[gnu::noinline]] static void access_slow(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    if ((writes(kOp) ? t.ignore_writes : t.ignore_reads) != 0 || size == 0) return;
    if (is_spared(of(t), address, size)) return;
    const Scope scope(t);
    const uint32_t what = packed(kOp, size);
    if (t.tree != nullptr && !tree::rests(*t.tree) && is_dropped(t, address, size, pc, what)) return;
    const depot::Id id = describe(t, pc, what);
    const Deed deed = deed_of(of(t), pc, what);
    typename Store::Last last;
    const auto visit = [&](Cell& cell, uint8_t mask, uintptr_t at) __attribute__((always_inline)) {
      if (!kIsNew && same_epoch<kOp>(of(t), cell, mask)) return;
      const bool is_done = !kIsNew && is_done_at_once<kOp>(of(t), cell, deed.to(mask), id, last);
      if (!is_done) access_granule<kOp>(of(t), cell, deed.to(mask), Store::access(id), at);
      note_history(of(t), cell, at);
    };
    if constexpr (kIsNew) {
      in_granule(of(t), address, size, visit);
    } else {
      for_each_granule(of(t), address, size, visit);
    }
    if constexpr (OrdersReadsAfterWrites<D, Env>) order_by_values(of(t), address, size, kOp);
    report(of(t), id);
  }
  // Without the granule's lock, in a loop over granules.
  template <Op kOp>
  [[gnu::always_inline]] static bool is_done_at_once(HostThread& t, Cell& cell, const Deed& deed, depot::Id id,
                                                     [[maybe_unused]] typename Store::Last& last) {
    if constexpr (Store::kIsDirect) {
      const auto bytes = static_cast<uint8_t>(deed.what);
      return Store::template settle_next_at_once<kOp>(cell, bytes, Store::access(id), t.now, t.state, t.env.is_alone,
                                                      last);
    }
    return Store::repeat(cell, deed, t.env);
  }
  template <Op kOp>
  [[gnu::always_inline]] static void access_granule(HostThread& t, Cell& cell, const Deed& deed, Env::Access a,
                                                    uintptr_t at) {
    t.env.at = at;
    t.env.joined = 0;
    visit_plain<kOp>(t, cell, deed, a, [&](auto& x) __attribute__((always_inline)) {
      writes(kOp) ? D::write(t.state, x, a, t.env) : D::read(t.state, x, a, t.env);
    });
    // A read that is not sampled leaves a set that its thread is not in.
    if (kOp == Op::Read && (!kSamples || t.env.sampling)) Store::note_readers(t.env, t.now);
  }

  static bool is_dropped(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc, uint32_t what) {
    calls(t);
    held_locks(t);
    return tree::is_redundant(*t.tree, tree::known(t, address, pc, what), size, g_options.tree_two_threads);
  }

  // What an atomic on memory that a library reached tells it, and is told by it; nothing for detectors that do not ask.
  struct NoExchange {
    NoExchange(HostThread&, uintptr_t) {}
  };
  template <class Host, bool kOrders>
  struct ExchangeOf {
    using Type = NoExchange;
  };
  template <class Host>
  struct ExchangeOf<Host, true> {
    using Type = typename OnlineLibrary<Host>::Exchange;
  };

  // --- synchronization that changes nothing, without the Line of its object ---

  // `is_idle` looks at the object's state.
  template <class T, class IsIdle>
  [[gnu::always_inline]] static bool is_idle(HostThread& t, uintptr_t address, IsIdle is_idle) {
    const Glance<T> glance(address, t.met(address));
    return glance.is_clear() && glance.object() != nullptr && is_idle(glance.object()->state) && held(t, glance);
  }
  template <class T>
  [[gnu::always_inline]] static bool held(HostThread& t, const Glance<T>& glance) {
    const bool held = glance.holds();
    if (kSamples && held) t.env.clock_operation(false);
    return held;
  }
  static bool acquire_is_idle(HostThread& t, uintptr_t lock, LockMode mode) {
    if constexpr (kHolds) {
      if (quiet::is_at_rest(t)) return true;  // there is nothing to learn
    }
    if constexpr (kGlances) {
      return is_idle<Lock>(t, lock, [&](const auto& l) {
        return mode == LockMode::Write ? D::acquire_is_idle(t.state, l) : D::read_acquire_is_idle(t.state, l);
      });
    }
    return false;
  }
  // The lock is known where it was found, and what it tells can be learnt from a copy of it. Whether it was.
  static bool acquire_at_a_glance(HostThread& t, uintptr_t lock, LockMode mode) {
    if constexpr (kGrips) {
      const Glance<Lock> glance(lock, t.met(lock));
      if (!glance.is_clear() || glance.object() == nullptr || t.tree != nullptr) return false;
      const typename D::Lock copy = glance.object()->state;
      if (!D::is_small(copy) || !glance.holds()) return false;
      mode == LockMode::Write ? D::acquire(t.state, copy, t.env) : D::read_acquire(t.state, copy, t.env);
      t.renew();
      return true;
    }
    return false;
  }
  static bool release_is_idle(HostThread& t, uintptr_t lock, LockMode mode) {
    if constexpr (kHolds) {
      if (rest::is_on()) return true;
      return is_idle<Lock>(t, lock, [&](const auto& l) {
        return mode == LockMode::Write ? D::release_is_idle(t.state, l, t.env)
                                       : D::read_release_is_idle(t.state, l, t.env);
      });
    }
    return false;
  }
  // The same for mutex.cpp, which then needs no Scope: a lock that nothing but order is to be told of, and it brings none.
  [[gnu::always_inline]] static bool is_mere_order(Thread& t, uintptr_t lock, uintptr_t /*used*/, uintptr_t /*pc*/)
    requires kHolds
  {
    const bool is_quiet = quiet::is_quiet(t, lock);
    return (rest::is_on() && is_quiet) || (is_between_periods(of(t)) && (is_quiet || is_settled_lock(of(t), lock)));
  }
  // What is read of its memory (intercept/lock_memory.h), was read in this epoch or has no history.
  [[gnu::noinline]] static bool is_settled_lock(HostThread& t, uintptr_t lock) {
    const Cell& cell = hot_cell(lock);
    const bool settled = t.met_lock(lock) == lock &&
                         (Store::empty(cell) || same_epoch<Op::Read>(t, cell, static_cast<uint8_t>(1U << (lock & 7))));
    if (settled) look_for_history(t, lock);
    return settled;
  }
  [[gnu::always_inline]] static bool acquired_at_once(Thread& t, uintptr_t lock, LockMode mode)
    requires kHolds
  {
    return (rest::is_on() || (is_still_between(of(t)) && acquire_is_idle(of(t), lock, mode))) && has_passed(of(t));
  }
  [[gnu::always_inline]] static bool released_at_once(Thread& t, uintptr_t lock, LockMode mode)
    requires kHolds
  {
    return (rest::is_on() || release_is_idle(of(t), lock, mode)) && has_passed(of(t));
  }
  // The same at rest.
  [[gnu::always_inline]] static bool is_at_rest(Thread& t, uintptr_t lock)
    requires kHolds
  {
    return rest::is_on() && quiet::is_quiet(t, lock);
  }
  [[gnu::always_inline]] static bool has_passed_at_rest(Thread& t)
    requires kHolds
  {
    return rest::is_on() && has_passed(of(t));
  }
  [[gnu::always_inline]] static bool has_passed(HostThread& t) {
    ++t.events;
    sampling::work(t);
    return true;
  }

  // Nothing but order is to be told of an atomic there: it is between periods, and leaves no mark that is not there.
  [[gnu::always_inline]] static bool is_mere_order(HostThread& t, uintptr_t address, unsigned size, Op op) {
    return is_between_periods(t) && (quiet::is_quiet(t, address) || leaves_history(t, address, size, op));
  }
  static bool is_between_periods(const HostThread& t) {
    return (t.ignore_reads | t.ignore_writes | t.ignore_sync) == 0 && t.tree == nullptr && is_still_between(t);
  }
  static bool is_still_between(const HostThread& t) { return t.period == sampling::period() && !t.env.sampling; }
  [[gnu::noinline]] static bool leaves_history(HostThread& t, uintptr_t address, unsigned size, Op op) {
    if (size == 16) return is_unsampled<16>(address);
    const Cell& cell = hot_cell(address);
    if (!Store::empty(cell)) {
      const auto& known = settled_atomic(t, address, size, op);
      return known.access == access_key(address, size, op) && known.knowledge == D::snapshot(t.state).version &&
             known.sight == Store::sight(cell);
    }
    look_for_history(t, address);
    return true;
  }
  static uintptr_t access_key(uintptr_t address, unsigned size, Op op) {
    return address << 8 | size << 1 | (writes(op) ? 1U : 0U);
  }
  static auto& settled_atomic(HostThread& t, uintptr_t address, unsigned size, Op op) {
    const uintptr_t key = access_key(address, size, op);
    return t.settled_atomics[(key ^ key >> 11) % HostThread::kSettledAtomics];
  }
  // An atomic operation, if there is rest. Whether it was made. A leaf: now and then (has_more) after_rest() is to be called, last of all, so that
  // the value goes through it. Signals that came while there was no rest any more, make_idly()'s caller delivers.
  template <class Value, class Real>
  [[gnu::always_inline]] static bool make_at_rest(Thread& t, uintptr_t address, Real real, Value& value,
                                                  bool& has_more) {
    if (!quiet::is_quiet(t, address) || !rest::make(t, [&] { value = real(); })) return false;
    ++t.accesses;
    ++t.atomics;
    has_more = sampling::is_time_to_tell(t) || t.pending_count != 0;
    return true;
  }
  template <class Value>
  [[gnu::noinline, gnu::cold]] static Value after_rest(Thread& t, Value value) {
    deliver_signals_of_rest(t);
    if (t.work >= __atomic_load_n(&sampling::g_batch, __ATOMIC_RELAXED)) sampling::tell_work(t);
    return value;
  }
  static void deliver_signals_of_rest(Thread& t) {
    if (t.pending_count != 0 && t.busy == 0) [[unlikely]]
      deliver_pending_signals(t);
  }
  // The same if it changes nothing but the program's memory.
  template <class Value, class Real>
  [[gnu::always_inline]] static bool make_idly(HostThread& t, uintptr_t address, unsigned size, Op op,
                                               MemoryOrder order, Real real, Value& value) {
    if (op == Op::AtomicLoad) {
      if (!load_idly(t, address, size, order, real, value)) return false;
    } else {
      const Scope scope(t);
      if (!write_idly(t, address, size, op, order, real, value)) return false;
    }
    ++t.accesses;
    ++t.atomics;
    t.env.clock_operation(false);
    sampling::work(t);
    return true;
  }
  template <class Value, class Real>
  [[gnu::always_inline]] static bool load_idly(HostThread& t, uintptr_t address, unsigned size, MemoryOrder order,
                                               Real real, Value& value) {
    if (!is_mere_order(t, address, size, Op::AtomicLoad)) return false;
    if (quiet::is_at_rest(t)) {
      value = real();
      if (quiet::is_at_rest(t)) return true;  // still, so the value is older than what will be sampled
    }
    for (unsigned round = 0; round < kTries; relax(round++)) {
      const Glance<Atomic> glance(address, t.met(address));
      if (!glance.is_clear()) continue;
      if (glance.object() != nullptr &&
          !D::atomic_is_idle(t.state, glance.object()->state, Op::AtomicLoad, order, t.env))
        return false;
      value = real();
      if (glance.holds()) return true;
    }
    return false;
  }
  // In a Scope. Who changes the object makes the operation and the change in one; this must not come in between.
  template <class Value, class Real>
  [[gnu::always_inline]] static bool write_idly(HostThread& t, uintptr_t address, unsigned size, Op op,
                                                MemoryOrder order, Real real, Value& value) {
    if (!is_mere_order(t, address, size, op)) return false;
    for (unsigned round = 0; round < kTries; relax(round++)) {
      const Glance<Atomic> glance(address, t.met(address));
      if (glance.object() == nullptr) return false;
      if (!glance.is_clear()) continue;
      if (!D::atomic_is_idle(t.state, glance.object()->state, op, order, t.env)) return false;
      const Hold hold(glance);
      if (!hold) continue;
      value = real();
      return true;
    }
    return false;
  }
  // Between periods, and never sampled.
  [[gnu::always_inline]] static bool is_quiet(const HostThread& t, uintptr_t address, uintptr_t size) {
    if constexpr (kSamples)
      return t.period == sampling::period() && !t.env.sampling && quiet::are_quiet(t, address, size);
    return false;
  }

  // Calls f with the object, made if need be, and nobody else at it. In a Scope.
  template <class T, class F>
  [[gnu::always_inline]] static auto at(HostThread& t, uintptr_t address, F&& f) {
    if constexpr (kIsGripped<T>) {
      for (unsigned round = 0; round < kTries; relax(round++)) {
        const Glance<T> glance(address, t.met(address));
        if (glance.object() == nullptr) break;
        if (!glance.is_clear()) continue;
        if (const Grip<T> grip(glance); grip) return f(grip.object());
      }
    }
    return at_object_of_line<T>(t, address, f);
  }
  template <class T, class F>
  [[gnu::noinline]] static auto at_object_of_line(HostThread& t, uintptr_t address, F&& f) {
    Line line(address);
    T& object = line.template get<T>(address, *t.arena);
    const ChangeOf<T> change(object);
    return f(object);
  }

  // --- atomics: `real` makes the operation itself, at the moment that the rules see ---

  template <class Real>
  static auto atomic(HostThread& t, uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc,
                     Real real) {
    ++t.accesses;
    ++t.atomics;
    pass_time(t);
    const Scope scope(t);
    [[maybe_unused]] const typename ExchangeOf<OnlineHost, OrdersLibraries<D>>::Type exchange(t, address);
    if constexpr (kGripsAtomics) {
      if (t.tree == nullptr) return atomic_by_grip(t, address, size, op, order, pc, real);
    }
    const depot::Id a = describe(t, pc, packed(op, size));
    // Atomics do not race with each other, so where their access is told matters only to what it learns before and publishes
    // after. Where it does neither, that is outside of the Line, which is held shortly.
    const bool tells_inside = op == Op::AtomicRmw || OrdersReadsAfterWrites<D, Env>;
    if (!tells_inside && op == Op::AtomicStore) tell_atomic(t, address, size, op, a);
    const auto result = [&] {
      Line line(address);
      auto* object = line.template find<Atomic>(address);
      if (object == nullptr && op != Op::AtomicLoad) object = &line.template add<Atomic>(address, *t.arena);
      const auto operate = [&] {
        atomic_before(t, object, op, order);
        if (tells_inside) tell_atomic(t, address, size, op, a);
        const auto value = real();
        atomic_after(t, object, op, order);
        return value;
      };
      if (op == Op::AtomicLoad && (object == nullptr || !kGrips)) return operate();
      const ChangeOf<Atomic> change(*object);
      return operate();
    }();
    if (!tells_inside && op == Op::AtomicLoad) tell_atomic(t, address, size, op, a);
    report(t, a);
    return result;
  }

  // A compare-exchange is a read-modify-write or, when it fails, a load: known only once it is done.
  template <class Real>
  static bool compare_exchange(HostThread& t, uintptr_t address, unsigned size, MemoryOrder success,
                               MemoryOrder failure, uintptr_t pc, Real real) {
    ++t.accesses;
    ++t.atomics;
    pass_time(t);
    const Scope scope(t);
    [[maybe_unused]] const typename ExchangeOf<OnlineHost, OrdersLibraries<D>>::Type exchange(t, address);
    if constexpr (kGripsAtomics) {
      if (bool done = false; t.tree == nullptr && make_settled(t, address, Op::AtomicRmw, success, real, done)) {
        report(t, tell_once(t, address, size, done ? Op::AtomicRmw : Op::AtomicLoad, pc));
        return done;
      }
    }
    depot::Id a = 0;
    const bool done = at<Atomic>(t, address, [&](Atomic& object) {
      const bool is_done = real();
      const Op op = is_done ? Op::AtomicRmw : Op::AtomicLoad;
      const MemoryOrder order = is_done ? success : failure;
      a = describe(t, pc, packed(op, size));
      atomic_before(t, &object, op, order);
      tell_atomic(t, address, size, op, a);
      atomic_after(t, &object, op, order);
      return is_done;
    });
    report(t, a);
    return done;
  }

  // --- threads ---

  static HostThread* new_thread(HostThread* parent, ThreadInfo* info) {
    auto* t = spare_thread();
    t->info = info;
    t->tree = tree::table_for(info->id, t->tree);
    t->bursts = literace::new_bursts(t->bursts, info->id);
    t->env.arena = t->arena;
    t->env.owner = info->id;
    const ThreadId id{info->id};
    if (parent == nullptr || !take_used_slot(*t, id, *parent)) D::start(t->state, id, slots::fresh(id));
    if (parent != nullptr) {
      message(*parent);
      D::fork(parent->state, t->state, parent->env);
      inherit_period(*t, *parent);
      t->lessons.inherit(parent->lessons, parent->env);
      parent->renew();
    }
    t->renew();
    return t;
  }
  // It knows what its parent does, and samples if that one does: else it might, unseen by rest.h.
  static void inherit_period(HostThread& t, const HostThread& parent) {
    t.period = parent.period;
    t.env.sampling = parent.env.sampling;
    t.knows_of = parent.knows_of;
    t.rests = parent.rests;
    if (t.env.sampling) rest::may_sample();
  }
  // Who samples begins another epoch whenever it publishes; who has left the period would have counted that.
  static bool has_told_nobody(const Thread& t) {
    const auto& thread = static_cast<const HostThread&>(t);
    return thread.env.sampling || thread.env.knowledge == thread.knowledge_after_sampling;
  }
  static OnlineEpoch epoch(const Thread& t) { return D::epoch(static_cast<const HostThread&>(t).state); }
  static bool knows(const Thread& t, OnlineEpoch e) { return D::ordered(e, static_cast<const HostThread&>(t).state); }
  static void learn(Thread& t, OnlineEpoch e) {
    D::learn(of(t).state, {{}, e, {}}, of(t).env);
    of(t).renew();
  }
  static void end(HostThread& t) {
    if (t.told != nullptr) t.told->for_each([&](told::Place& p) { give_up(t, p); });
    if (t.env.sampling) rest::samples_no_more(D::epoch(t.state), true);
    const Guard guard(g_lock);
    g_graves.push(D::bury(t.state), g_graves_env);
  }
  static void join(HostThread& t, HostThread& child) {
    message(t);
    D::join(t.state, child.state, t.env);
    t.renew();
  }
  static void destroy(HostThread& t, HostThread& child) {
    D::destroy(child.state, t.env);
    child.lessons.forget(t.env);
    const Guard guard(g_lock);
    child.next = g_spare;
    g_spare = &child;
  }

  // --- memory ---

  // At rest, what an earlier life left in memory and objects is known to all, so it may stay: later ones are ordered after it, and learn
  // nothing from it. Only of all of them: to a thread that knows by itself, others who do not would seem to meet that earlier life.
  static bool is_block_known(const HostThread& t, uintptr_t address, uintptr_t size) {
    return kHolds && rest::is_on() && is_quiet(t, address, size);
  }

  // Of all memory, so that not even where a block ends matters: a later report of it says where it was allocated.
  static bool is_all_known(const HostThread& t) { return rest::is_on() && is_still_between(t) && quiet::is_at_rest(t); }

  static void begin_block(HostThread& t, uintptr_t address, uintptr_t size) {
    if (is_block_known(t, address, size)) return;
    forget_objects(t, address, size);
    const auto clear = [&](Cell& cell, uint8_t mask, uintptr_t) { Store::clear(cell, mask, t.env); };
    if (kSamples && !t.env.sampling) return for_each_sampled_granule(t, address, size, clear);
    for_each_touched_granule(t, address, size, clear);
    if constexpr (OrdersReadsAfterWrites<D, Env>) {
      if (size <= kMarkWhole) publish(t, address, size);
      D::published(t.state, t.env);
    }
  }

  // Marks all of a small block as freed, and of a large one what was ever accessed: the rest costs no memory.
  static void end_block(HostThread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    if (is_block_known(t, address, size)) return;
    const bool samples_not = kSamples && !t.env.sampling;
    const bool touched_only = size > kMarkWhole || samples_not;
    const uint32_t what = packed(Op::Free, size);
    const depot::Id a = describe(t, pc, what);
    const Deed deed = deed_of(t, pc, what);
    typename Store::Last last;
    const auto free_granule = [&](Cell& cell, uint8_t mask, uintptr_t at) {
      if (touched_only && Store::empty(cell)) return;
      if (!is_done_at_once<Op::Free>(t, cell, deed.to(mask), a, last)) {
        t.env.at = at;
        visit_plain<Op::Free>(t, cell, deed.to(mask), Store::access(a), [&](auto& x) {
          D::write(t.state, x, Store::access(a), t.env);
          D::clear(x, t.env);  // what came before met the free, and meets nothing after it
          D::write(t.state, x, Store::access(a), t.env);
        });
      }
      note_history(t, cell, at);
    };
    if (samples_not) {
      for_each_sampled_granule(t, address, size, free_granule);
    } else if (touched_only) {
      for_each_touched_granule(t, address, size, free_granule);
    } else {
      for_each_granule(t, address, size, free_granule);
      if constexpr (OrdersReadsAfterWrites<D, Env>) publish(t, address, size);
    }
    if constexpr (OrdersReadsAfterWrites<D, Env>) D::published(t.state, t.env);
    forget_objects(t, address, size);
    report(t, a);
  }

  // A write to what was ever accessed of it; nothing of it is left.
  static void drop_block(HostThread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    const uint32_t what = packed(Op::Free, size);
    const depot::Id a = describe(t, pc, what);
    const Deed deed = deed_of(t, ~pc, what);  // not the deed of a free at this place, which leaves something
    for_each_touched_granule(t, address, size, [&](Cell& cell, uint8_t mask, uintptr_t at) {
      if (Store::empty(cell) || Store::repeat(cell, deed.to(mask), t.env)) return;
      t.env.at = at;
      visit_plain<Op::Free>(t, cell, deed.to(mask), Store::access(a), [&](auto& x) {
        D::write(t.state, x, Store::access(a), t.env);
        D::clear(x, t.env);
      });
      Store::clear(cell, mask, t.env);
    });
    for (uintptr_t part = 0; part < Store::kBytesPerGranule; part += sizeof(Cell))
      give_back(address, address + size, kLinesBytes + part * kGranulesPerChunk, sizeof(Cell));
    forget_objects(t, address, size);
    report(t, a);
  }

  static void forget_objects(HostThread& t, uintptr_t address, uintptr_t size) {
    for_each_object(address, address + size, [&](Line& line, Object* o) { forget(t, line, o); });
  }
  static void forget_object(HostThread& t, uintptr_t address) {
    Line line(address);
    for (Object* o = line.first(); o != nullptr;) {
      Object* next = o->next;
      if (o->address == address) forget(t, line, o);
      o = next;
    }
  }

  // The same with the object alone in place of its Line, in a Scope.
  //
  // What leaves object and thread as they are (settled) is made while nobody changes the object; then it has no halves, and where its access
  // is told does not matter. Else all is as above.
  template <class Real>
  [[gnu::always_inline]] static auto atomic_by_grip(HostThread& t, uintptr_t address, unsigned size, Op op,
                                                    MemoryOrder order, uintptr_t pc, Real real) {
    decltype(real()) value{};
    const bool is_load = op == Op::AtomicLoad;
    expect_atomic(t, address);
    if (is_load ? load_at_a_glance(t, address, order, real, value) : make_settled(t, address, op, order, real, value)) {
      report(t, tell_once(t, address, size, op, pc));
      return value;
    }
    depot::Id a = op == Op::AtomicStore ? tell_once(t, address, size, op, pc) : 0;
    at<Atomic>(t, address, [&](Atomic& object) {
      atomic_before(t, &object, op, order);
      if (op == Op::AtomicRmw) a = tell_once(t, address, size, op, pc);
      value = real();
      atomic_after(t, &object, op, order);
    });
    if (is_load) a = tell_once(t, address, size, op, pc);
    report(t, a);
    return value;
  }
  // Threads hand atomics to each other, so all that is needed of one may be in another processor's cache: it is asked for at once, not one
  // after the other.
  [[gnu::always_inline]] static void expect_atomic(HostThread& t, uintptr_t address) {
    __builtin_prefetch(t.met(address));
    __builtin_prefetch(&hot_cell(address));
    __builtin_prefetch(reinterpret_cast<const void*>(address));
  }
  // A load only looks, so that others who do the same keep the object in their caches. What it has to learn, it learns from a copy, if
  // that can be made without a reference to anything.
  template <class Value, class Real>
  [[gnu::always_inline]] static bool load_at_a_glance(HostThread& t, uintptr_t address, MemoryOrder order, Real real,
                                                      Value& value) {
    for (unsigned round = 0; round < kTries; relax(round++)) {
      const Glance<Atomic> glance(address, t.met(address));
      if (!glance.is_near()) return false;
      if (!glance.is_clear()) continue;
      const Atomic* object = glance.object();
      if (object == nullptr || is_settled(t, *object, Op::AtomicLoad, order)) {
        value = real();
        if (held(t, glance)) return true;
        continue;
      }
      const typename D::Atomic copy = object->state;
      if (!D::is_small(copy)) return false;
      value = real();
      if (!glance.holds()) continue;
      D::atomic_before(t.state, copy, Op::AtomicLoad, order, t.env);
      t.renew();
      return true;
    }
    return false;
  }
  template <class Value, class Real>
  [[gnu::always_inline]] static bool make_settled(HostThread& t, uintptr_t address, Op op, MemoryOrder order, Real real,
                                                  Value& value) {
    if (releases(order)) return false;
    for (unsigned round = 0; round < kTries; relax(round++)) {
      const Glance<Atomic> glance(address, t.met(address));
      if (glance.object() == nullptr) return false;
      if (!glance.is_clear()) continue;
      if (!is_settled(t, *glance.object(), op, order)) return false;
      const Hold hold(glance);
      if (!hold) continue;
      value = real();
      if constexpr (kSamples) t.env.clock_operation(false);
      return true;
    }
    return false;
  }
  static bool is_settled(const HostThread& t, const Atomic& object, Op op, MemoryOrder order) {
    return t.ignore_sync != 0 || D::atomic_is_idle(t.state, object.state, op, order, t.env);
  }

 private:
  // An atomic operation: what it learns, its access, what it leaves. No object: nothing to learn.
  static void atomic_before(HostThread& t, Atomic* object, Op op, MemoryOrder order) {
    if (object != nullptr && t.ignore_sync == 0) D::atomic_before(t.state, object->state, op, order, t.env);
  }
  static void tell_atomic(HostThread& t, uintptr_t address, unsigned size, Op op, depot::Id a) {
    if ((writes(op) ? t.ignore_writes : t.ignore_reads) != 0 || is_spared(t, address, size)) return;
    if constexpr (kHolds) {
      if (!t.env.sampling && (address & 7) + size <= 8) return tell_between_periods(t, address, size, op, a);
    }
    visit_atomic(t, address, size, op, a);
    if constexpr (OrdersReadsAfterWrites<D, Env>) order_by_values(t, address, size, op);
  }
  // The same; how the access is described, or 0. In one epoch, an atomic is told again only where its memory has seen something else since.
  [[gnu::always_inline]] static depot::Id tell_once(HostThread& t, uintptr_t address, unsigned size, Op op,
                                                    uintptr_t pc) {
    if constexpr (kRemembers) {
      if ((address & 7) + size <= 8) {
        if constexpr (Store::kIsDirect) {
          if (depot::Id a = 0; is_told_alone(t, address, size, writes(op), pc, packed(op, size), a)) return a;
        }
        const uintptr_t access = access_key(address, size, op);
        const auto& told = told_atomic(t, access);
        if (told.epoch == D::epoch(t.state) && told.access == access && told.stamp == Store::stamp(hot_cell(address)))
          return 0;
        return tell_and_remember(t, address, access, packed(op, size), pc);
      }
    }
    const depot::Id a = describe(t, pc, packed(op, size));
    tell_atomic(t, address, size, op, a);
    return a;
  }
  // In a place of the thread itself, where others can be seen to look. How it is described, or 0 if this epoch has it.
  [[gnu::always_inline]] static bool is_told_alone(HostThread& t, uintptr_t address, unsigned size, bool writes,
                                                   uintptr_t pc, uint32_t what, depot::Id& a) {
    if (t.told == nullptr) return false;
    told::Place& place = t.told->at(address);
    if (place.key != told::Place::key_of(address, size)) return false;
    if (Store::was_told(place, writes, t.now)) return true;
    if (!Store::is_alone(place, writes) || (writes ? t.ignore_writes : t.ignore_reads) != 0) return false;
    a = describe(t, pc, what);
    place.uses += place.uses < kMostUses ? 1 : 0;
    const uint64_t bytes = (0xFFU >> (8 - size)) << (address & 7);
    return Store::tell_alone(place, static_cast<uint8_t>(bytes), writes, Store::access(a), t.now);
  }
  static constexpr uint64_t kWorthIt = 2, kMostUses = 16;
  // For an atomic that is to be told to all: the place that it has, or is to have now. Null else, or while another one uses that: who comes
  // more often than all others who would have the same place gets it in the end.
  static told::Place* place_for(HostThread& t, uintptr_t address, unsigned size) {
    if constexpr (!Store::kIsDirect) return nullptr;
    if (t.told == nullptr) t.told = static_cast<told::Table*>(map_or_die(sizeof(told::Table), "places of atomics"));
    told::Place& place = t.told->at(address);
    const uint64_t key = told::Place::key_of(address, size);
    if (place.key == key) {
      place.uses += place.uses < kMostUses ? 1 : 0;
      return place.uses >= kWorthIt ? &place : nullptr;
    }
    if (place.uses != 0) {
      --place.uses;
      return nullptr;
    }
    give_up(t, place);
    t.told->reserve(place, key);
    return nullptr;
  }
  static void give_up(HostThread& t, told::Place& place) {
    if constexpr (Store::kIsDirect) {
      if (place.is_named()) {
        in_granule(t, place.address(), place.size(),
                   [&](Cell& cell, uint8_t, uintptr_t) { Store::give_up(cell, place, t.env); });
      }
      t.told->vacate(place);
    }
  }
  static auto& told_atomic(HostThread& t, uintptr_t access) {
    return t.told_atomics[(access >> 11 ^ access >> 17 ^ access << 1) % HostThread::kToldAtomics];
  }
  // Told at this epoch, it has its mark, and FastTrack makes nothing of another one while the granule is as it was left here, but for marks of
  // other atomics: each change but these gives it a stamp that is no other's.
  [[gnu::noinline]] static depot::Id tell_and_remember(HostThread& t, uintptr_t address, uintptr_t access,
                                                       uint32_t what, uintptr_t pc) {
    const bool writes = (access & 1) != 0;
    if ((writes ? t.ignore_writes : t.ignore_reads) != 0) return 0;
    const depot::Id a = describe(t, pc, what);
    told::Place* place = place_for(t, address, what & 0xFF);
    in_granule(t, address, what & 0xFF, [&](Cell& cell, uint8_t mask, uintptr_t at) __attribute__((always_inline)) {
      t.env.at = at;
      const uint64_t stamp =
          Store::visit_atomic(cell, mask, writes, Store::access(a), t.now, t.state, t.env, place,
                              [&](typename D::Var& x) { tell_variable(t, x, writes, Store::access(a)); });
      if (stamp != 0) told_atomic(t, access) = {access, stamp, D::epoch(t.state)};
    });
    return a;
  }
  static void tell_between_periods(HostThread& t, uintptr_t address, unsigned size, Op op, depot::Id a) {
    const Cell& cell = hot_cell(address);
    const typename Store::Sight before = Store::sight(cell);
    const unsigned visited = visit_atomic(t, address, size, op, a);
    if (t.env.settled != visited || t.env.found_count != 0 || !before.is_clear() || Store::sight(cell) != before)
      return;
    settled_atomic(t, address, size, op) = {access_key(address, size, op), before, D::snapshot(t.state).version};
  }
  // How many variables the memory was.
  static unsigned visit_atomic(HostThread& t, uintptr_t address, unsigned size, Op op, depot::Id a) {
    unsigned visited = 0;
    t.env.settled = 0;
    for_each_granule(t, address, size, [&](Cell& cell, uint8_t mask, uintptr_t at) {
      t.env.at = at;
      Store::visit(cell, mask, t.env, [&](typename D::Var& x) {
        tell_variable(t, x, writes(op), Store::access(a));
        ++visited;
      });
      note_history(t, cell, at);
    });
    return visited;
  }
  // What an rmw checks and leaves is what a store does; the access says which it was.
  [[gnu::always_inline]] static void tell_variable(HostThread& t, typename D::Var& x, bool writes, Env::Access a) {
    writes ? D::atomic_write(t.state, x, a, t.env) : D::atomic_read(t.state, x, a, t.env);
  }
  static void atomic_after(HostThread& t, Atomic* object, Op op, MemoryOrder order) {
    if (object != nullptr && t.ignore_sync == 0) {
      D::atomic_after(t.state, object->state, op, order, t.env);
      message_of_atomic(t, op, order, *object);
    }
    t.renew();
  }

  static constexpr unsigned kTries = 32;  // while others are at the object
  static constexpr uintptr_t kMarkWhole = uintptr_t{64} << 10;

  static uint32_t packed(Op op, uintptr_t size) {
    return (static_cast<uint32_t>(op) + 1) << 24 | static_cast<uint32_t>(size < 0xFFFFFF ? size : 0xFFFFFF);
  }

  static Deed deed_of(const HostThread& t, uintptr_t pc, uint32_t what) {
    const depot::Id stack = t.top == t.bottom ? 0 : t.top[-1].stack;
    return {pc, uint64_t{stack} << 32 | t.locks, t.env.knowledge << (64 - Deed::kKnowledgeBits) | uint64_t{what} << 8};
  }
  template <Op kOp, class F>
  [[gnu::always_inline]] static void visit_plain(HostThread& t, Cell& cell, const Deed& deed, Env::Access a, F&& f) {
    Store::template visit_plain<kOp>(cell, deed, a, t.now, t.state, t.env, f);
  }

  // Of the chunk that stands for all that are not there. Both the table and all cells are found from here: one register, and nothing to add.
  static constexpr const char* kNoCells = g_area.zero_chunk + kLinesBytes;
  static Cell& hot_cell(uintptr_t address) { return hot_cell(kNoCells, address); }
  [[gnu::always_inline]] static Cell& hot_cell(const char* no_cells, uintptr_t address) {
    const auto* chunks = reinterpret_cast<const uintptr_t*>(no_cells + (offsetof(Area, chunks) - kLinesBytes));
    const uintptr_t distance = __atomic_load_n(&chunks[chunk_index(address)], __ATOMIC_RELAXED);
    return reinterpret_cast<Cell*>(reinterpret_cast<uintptr_t>(no_cells) + distance)[granule_index(address)];
  }
  // In the chunk that stands for all that are not there.
  static bool is_of_nothing(const Cell& cell) {
    return reinterpret_cast<uintptr_t>(&cell) - reinterpret_cast<uintptr_t>(g_area.zero_chunk) <
           sizeof g_area.zero_chunk;
  }
  static Cell* cells(char* chunk) { return reinterpret_cast<Cell*>(chunk + kLinesBytes); }

  static uint8_t mask_in(uintptr_t granule, uintptr_t begin, uintptr_t end) {
    const uintptr_t from = granule < begin ? begin - granule : 0;
    const uintptr_t to = granule + 8 > end ? end - granule : 8;
    return static_cast<uint8_t>((0xFFU >> (8 - (to - from))) << from);
  }

  // Of an address whose cell this is.
  [[gnu::always_inline]] static owners::Block& owned_block(const Cell& cell, uintptr_t address) {
    constexpr uintptr_t kBehindCells = kGranulesPerChunk * Store::kBytesPerGranule + kOwnersBehindCells;
    const uintptr_t first_cell = reinterpret_cast<uintptr_t>(&cell) - granule_index(address) * sizeof(Cell);
    return reinterpret_cast<owners::Block*>(first_cell + kBehindCells)[(address & kInChunk) >> owners::kBlockBits];
  }
  // Calls f, which may change what the block has seen.
  template <class F>
  [[gnu::always_inline]] static void in_block(HostThread& t, const Cell& cell, uintptr_t address, F&& f) {
    if constexpr (Store::kIsDirect) {
      const owners::Visit visit(t, owned_block(cell, address));
      t.env.is_alone = visit.is_own();
      f();
    } else {
      f();
    }
  }

  // f(cell, mask, first byte)
  template <class F>
  [[gnu::always_inline]] static void in_granule(HostThread& t, uintptr_t begin, uintptr_t size, F&& f) {
    Cell& cell = cells(chunk(begin))[granule_index(begin)];
    if constexpr (kSamples) quiet::be_touched(t, &cell, begin);
    in_block(t, cell, begin, [&]() __attribute__((always_inline)) {
      // NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift): 1 to 8 bytes, as the analyzer cannot tell from addresses
      f(cell, static_cast<uint8_t>((0xFFU >> (8 - size)) << (begin & 7)), begin);
    });
  }
  template <class F>
  [[gnu::always_inline]] static void for_each_granule(HostThread& t, uintptr_t begin, uintptr_t size, F&& f) {
    const uintptr_t end = begin + size;
    if (begin >> kGranuleBits == (end - 1) >> kGranuleBits) [[likely]]
      return in_granule(t, begin, size, f);
    for (uintptr_t from = begin, to = 0; from < end; from = to) {
      const uintptr_t block_end = (from | (owners::kBlockBytes - 1)) + 1;
      to = block_end < end ? block_end : end;
      Cell* cell = &cells(chunk(from))[granule_index(from)];
      if constexpr (kSamples) quiet::be_touched(t, cell, from);
      in_block(t, *cell, from, [&]() __attribute__((always_inline)) {
        for (uintptr_t g = from & ~uintptr_t{7}; g < to; g += 8, ++cell)
          f(*cell, mask_in(g, begin, end), g < begin ? begin : g);
      });
      if constexpr (Store::kIsDirect) {
        constexpr uintptr_t kMany = 512;
        if (!t.env.is_alone && to - from >= kMany) owners::consider(t, owned_block(cell[-1], to - 1));
      }
    }
  }

  // After a rule: only in a period does a granule get history that it had not.
  [[gnu::always_inline]] static void note_history(const HostThread& t, const Cell& cell, uintptr_t address) {
    if (kSamples && t.env.sampling && !Store::empty(cell)) quiet::disturb(address);
  }

  // The same, but leaves out what surely has no history.
  template <class F>
  static void for_each_touched_granule(HostThread& t, uintptr_t begin, uintptr_t size, F&& f) {
    for_each_touched_part(begin, begin + size, kLinesBytes, kPage / sizeof(Cell) * 8,
                          [&](uintptr_t from, uintptr_t to) { for_each_granule(t, from, to - from, f); });
  }

  // The same between periods, when f leaves nothing: only what may have history, and blocks that were all of it have none afterwards. From the
  // last to the first, since a block has the history of the first bytes behind it, too.
  template <class F>
  static void for_each_sampled_granule(HostThread& t, uintptr_t begin, uintptr_t size, F&& f) {
    for_each_touched_part(begin, begin + size, kLinesBytes, kPage / sizeof(Cell) * 8,
                          [&](uintptr_t from, uintptr_t to) {
                            for (uintptr_t at = 0; to > from; to = at) {
                              const uintptr_t block = (to - 1) & ~(quiet::kBlock - 1);
                              at = block > from ? block : from;
                              if (!quiet::may_have_history(at)) continue;
                              for_each_granule(t, at, to - at, f);
                              if (to - at == quiet::kBlock) search(at);
                            }
                          });
  }

  static void order_by_values(HostThread& t, uintptr_t address, uintptr_t size, Op op) {
    if (op != Op::Write && op != Op::AtomicStore) {
      for_each_granule(t, address, size, [&](Cell& cell, uint8_t mask, uintptr_t) {
        Store::visit(cell, mask, t.env, [&](typename D::Var& x) { D::reads_from(t.state, x, t.env); });
      });
    }
    if (!writes(op)) return;
    publish(t, address, size);
    D::published(t.state, t.env);
  }
  static void publish(HostThread& t, uintptr_t address, uintptr_t size) {
    for_each_granule(t, address, size, [&](Cell& cell, uint8_t mask, uintptr_t) {
      Store::visit(cell, mask, t.env, [&](typename D::Var& x) { D::publish(t.state, x, t.env); });
    });
  }

  static void forget(HostThread& t, Line& line, Object* o) {
    switch (o->kind) {
      case kLock:
        if constexpr (kIsHybrid<D>) static_cast<Lock*>(o)->state.releases.forget(t.env);
        return forget_as<Lock>(t, line, o);
      case kSemaphore: return forget_as<Semaphore>(t, line, o);
      case kAtomic: return forget_as<Atomic>(t, line, o);
      case kReached:
        if constexpr (OrdersLibraries<D>) OnlineLibrary<OnlineHost>::put_aside(line, o);
        return;
      default: return;  // conditions and barriers may have threads inside; blocks are the heap's
    }
  }
  template <class T>
  static void forget_as(HostThread& t, Line& line, Object* o) {
    ChangeOf<T>::begin(*o);
    line.remove(o);
    D::forget(static_cast<T*>(o)->state, t.env);
    t.arena->deallocate_object(static_cast<T*>(o), sizeof(T));
  }

  // With no Line held: to name the memory, the report looks at Lines.
  [[gnu::always_inline]] static void report(HostThread& t, depot::Id now) {
    if (t.env.found_count != 0) [[unlikely]]
      report_all(t, now);
  }
  [[gnu::noinline, gnu::cold]] static void report_all(HostThread& t, depot::Id now) {
    t.env.take_found([&](const Env::Found& f) {
      Store::for_each_access(f.prior.access, f.bytes, [&](depot::Id prior, unsigned byte) {
        const bool by_locks = !f.hidden_at.never();
        found(t, {prior, slots::owner(f.prior.epoch), now, f.granule + byte, f.verdict, by_locks,
                  by_locks ? t.lessons.of(f.hidden_at) : nullptr});
      });
    });
  }

  // On a thread not met before, or with a filter to be asked. A leaf where that knows at once.
  template <Op kOp>
  [[gnu::noinline]] static void access_unwatched(uintptr_t address, uintptr_t size, uintptr_t pc) {
    Thread* t = self;
    if (t == nullptr) [[unlikely]]
      return access_by_stranger<kOp>(address, size, pc);
    if (t->is_outside) [[unlikely]]
      return access_after_library<kOp>(address, size, pc);
    ++t->accesses;
    if (!sampler::drops(*t, address, size)) access_if_sampled<kOp>(*t, address, size, pc);
  }
  template <Op kOp>
  [[gnu::noinline]] static void access_if_sampled(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    if (!sampler::passes(t, kOp, address, size)) return;
    look_at_period(of(t));
    access_scattered<kOp>(t, address, size, pc);
  }
  // A call into a library is over.
  template <Op kOp>
  [[gnu::noinline, gnu::cold]] static void access_after_library(uintptr_t address, uintptr_t size, uintptr_t pc) {
    library::returned(*self);
    ++self->accesses;
    access_scattered<kOp>(*self, address, size, pc);
  }
  // Now it is met.
  template <Op kOp>
  [[gnu::noinline, gnu::cold]] static void access_by_stranger(uintptr_t address, uintptr_t size, uintptr_t pc) {
    if (Thread* t = current(); t != nullptr && is_wanted<kOp>(*t, address, size))
      access_slow<kOp>(*t, address, size, pc);
  }

  static HostThread* spare_thread() {
    {
      const Guard guard(g_lock);
      if (g_spare != nullptr) {
        HostThread* t = g_spare;
        g_spare = static_cast<HostThread*>(t->next);
        return reset(t, t->arena, t->bottom, t->end);
      }
    }
    auto* t = static_cast<HostThread*>(map_or_die(sizeof(HostThread) + sizeof(Arena), "a thread"));
    auto* frames = static_cast<Frame*>(map_or_die(kFrames * sizeof(Frame), "call stacks"));
    if constexpr (Store::kIsDirect) owners::enlist(*t);
    return reset(t, new (t + 1) Arena{}, frames, frames + kFrames);
  }
  static HostThread* reset(HostThread* t, Arena* arena, Frame* bottom, Frame* end) {
    tree::Table* table = t->tree;
    literace::Bursts* bursts = t->bursts;
    told::Table* told = t->told;
    const uint32_t number = t->number;
    new (t) HostThread{};
    t->number = number;
    t->told = told;
    t->arena = arena;
    t->tree = table;
    t->bursts = bursts;
    t->bottom = t->top = bottom;
    t->end = end;
    return t;
  }

  static bool take_used_slot(HostThread& t, ThreadId id, const HostThread& parent) {
    const Guard guard(g_lock);
    for (uint32_t i = 0; i < g_graves.size() && i < 64; ++i) {
      if (!D::may_succeed(g_graves[i], parent.state)) continue;
      D::succeed(t.state, id, g_graves[i]);
      g_graves.remove(i);
      slots::own(D::epoch(t.state), id);
      return true;
    }
    return false;
  }

  static constexpr std::size_t kFrames = 8192;
  static constinit inline SpinLock g_lock{};
  static constinit inline HostThread* g_spare = nullptr;
  static constinit inline Arena g_graves_arena{};
  struct GravesEnv {
    void* allocate(std::size_t n) { return g_graves_arena.allocate(n); }
    void deallocate(void* p, std::size_t n) { g_graves_arena.deallocate(p, n); }
  };
  static constinit inline GravesEnv g_graves_env{};
  static constinit inline Array<typename D::Grave, GravesEnv> g_graves{};
};

}  // namespace pf::rt
