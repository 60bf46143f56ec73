// The host of the engines that watch: clock races and collisions. Where detectors keep a history of every access, these sample a few
// instructions, and wait for another thread with a breakpoint (watch/slots.h); all that they know of synchronization is
// that a thread did some.
//
// Plain accesses of other threads are met by breakpoints, after the fact. Whatever the runtime does on the program's behalf (atomics, what
// libc's functions read and write, frees) is compared with the slots here, since a trap of our own code says little; and so
// are all accesses where there are no breakpoints.
#pragma once
#include "core/event.h"
#include "runtime/host.h"
#include "watch/slots.h"
#include "watch/turns.h"

namespace pf::rt {

class WatchHost {
 public:
  static constexpr uintptr_t kPlaces = 4096;  // a page: modules are moved by whole ones

  // By the address that the call of the entry point returns to, one behind the place in it: nothing is left to compute there.
  static uintptr_t place_of(uintptr_t pc) { return (pc + 1) % kPlaces; }

  struct HostThread : Thread {
    watch::Clock clock;
    watch::Turn turns[kPlaces];
  };
  static HostThread& of(Thread& t) { return static_cast<HostThread&>(t); }

  // Hot. What an instruction is to us was decided when the program was loaded, by the lower bits of its place, which are the same
  // wherever its module is. One load, one compare; no thread, no shadow.
  template <Op kOp, unsigned kSize>
  [[gnu::always_inline]] static void access(uintptr_t address, uintptr_t pc) {
    if (!is_known<kOp, kSize, Here>(address, pc)) [[unlikely]]
      access_unknown<kOp, kSize>(address, pc);
  }
  template <Op kOp, unsigned kSize, class From>
  [[gnu::always_inline]] static bool is_known(uintptr_t /*address*/, uintptr_t pc) {
    return From::shared().places[place_of(pc)] == 0;
  }
  template <Op kOp, unsigned kSize>
  static void access_unknown(uintptr_t address, uintptr_t pc) {
    look_at(address, kSize, kOp, pc);
  }
  // What that needs; copies of the code have a copy of it, too (near.h).
  struct Shared {
    const uint8_t* places;
  };
  static constexpr Shared shared() { return {g_places}; }
  struct Here {
    static Shared shared() { return WatchHost::shared(); }
  };
  // There is no filter in front of these engines.
  template <Op kOp>
  static bool is_wanted(const Thread&, uintptr_t, uintptr_t) {
    return true;
  }
  template <Op kOp>
  static void access_slow(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    if (g_places[place_of(pc)] != 0) look_at(t, address, size, kOp, pc);
  }

  // --- atomics: `real` makes the operation itself, in the order asked for ---
  //
  // Samples that were taken since an operation began are none of its business: their threads may have acquired what it released. So,
  // if nobody watched the memory before, nobody needs to be looked for afterwards. Threads share nothing here, and a
  // signal may come in between: its handler ticks when it begins and when it ends.

  // The thread, if all that an atomic operation there means is that it synchronizes.
  [[gnu::always_inline]] static HostThread* synchronizing_thread(uintptr_t address, unsigned size) {
    Thread* t = self;
    const bool is_watched = size <= 8 ? watch::slots::may_be_watched(address) : watch::slots::any();  // it is aligned
    return t != nullptr && !is_watched ? &of(*t) : nullptr;
  }
  template <class Real>
  [[gnu::always_inline]] static auto unwatched_atomic(HostThread& t, Op op, MemoryOrder order, Real real) {
    ++t.accesses;
    if (op != Op::AtomicLoad && releases(order)) synchronize(t);
    const auto result = real();
    if (op != Op::AtomicStore && acquires(order)) synchronize(t);
    return result;
  }
  template <class Real>
  [[gnu::always_inline]] static bool unwatched_compare_exchange(HostThread& t, MemoryOrder success, MemoryOrder failure,
                                                                Real real) {
    ++t.accesses;
    if (releases(success)) synchronize(t);
    const bool done = real();
    if (acquires(done ? success : failure)) synchronize(t);
    return done;
  }

  template <class Real>
  static auto atomic(HostThread& t, uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc,
                     Real real) {
    const uint64_t before = __atomic_load_n(&watch::g_samples_taken, __ATOMIC_ACQUIRE);
    const auto result = unwatched_atomic(t, op, order, real);
    meet(t, address, size, op, pc, before);
    return result;
  }
  // A compare-exchange is a read-modify-write or, when it fails, a load: known only once it is done.
  template <class Real>
  static bool compare_exchange(HostThread& t, uintptr_t address, unsigned size, MemoryOrder success,
                               MemoryOrder failure, uintptr_t pc, Real real) {
    const uint64_t before = __atomic_load_n(&watch::g_samples_taken, __ATOMIC_ACQUIRE);
    const bool done = unwatched_compare_exchange(t, success, failure, real);
    meet(t, address, size, done ? Op::AtomicRmw : Op::AtomicLoad, pc, before);
    return done;
  }

  // The thread synchronizes: called before what others may acquire, after what was acquired.
  static void synchronize(Thread& t) {
    if (t.ignore_sync != 0) return;
    ++t.events;
    watch::count(of(t).clock);
    if (watch::slots::is_symmetric()) [[unlikely]]
      watch::see_samples(of(t).clock);
  }

  // An access that the program makes through us, or that is announced to us: with which samples does it race? Not with those
  // that were taken after `latest`.
  static void meet(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc, uint64_t latest = ~uint64_t{0}) {
    if (may_be_watched(address, size)) [[unlikely]]
      meet_samples(t, address, size, op, pc, latest);
  }
  static bool may_be_watched(uintptr_t address, uintptr_t size) {
    if ((address & 7) + size <= 8) return watch::slots::may_be_watched(address);  // one granule
    if (!watch::slots::any()) return false;
    const uintptr_t last = address + size - 1;
    const bool has_three = (address & 7) + size <= 24;  // as all of the compiler's: no other one than these
    return !has_three || watch::slots::may_be_watched(address) || watch::slots::may_be_watched(last) ||
           watch::slots::may_be_watched(address + size / 2);
  }

  // Whether a lock means no more than that its thread synchronizes: nobody watches what is used of its memory, and nothing is sampled at the place
  // where it is used (intercept/lock_memory.h).
  static bool is_mere_order(Thread&, uintptr_t, uintptr_t used, uintptr_t pc) {
    return g_places[place_of(pc)] == 0 && !watch::slots::may_be_watched(used);
  }
  static bool acquired_at_once(Thread& t, uintptr_t, LockMode) {
    synchronize(t);
    return true;
  }
  static bool released_at_once(Thread& t, uintptr_t, LockMode) {
    synchronize(t);
    return true;
  }

 private:
  [[gnu::noinline, gnu::cold]] static void meet_samples(Thread& t, uintptr_t address, uintptr_t size, Op op,
                                                        uintptr_t pc, uint64_t latest);
  [[gnu::noinline]] static void look_at(uintptr_t address, uintptr_t size, Op op, uintptr_t pc);
  // In a hot loop most executions end here, without a register saved.
  static void look_at(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc) {
    const bool is_turn = (g_places[place_of(pc)] & kSampled) != 0 && of(t).turns[place_of(pc)].is_up();
    if (is_turn || may_be_watched(address, size)) [[unlikely]]
      look_closely(t, address, size, op, pc, is_turn);
  }
  [[gnu::noinline, gnu::cold]] static void meet_and_look(uintptr_t address, uintptr_t size, Op op, uintptr_t pc);
  [[gnu::noinline]] static void look_closely(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc,
                                             bool is_turn);

 public:
  // By the lower bits of a program counter: whether accesses there are sampled, or compared since there are no breakpoints.
  enum Place : uint8_t { kSampled = 1, kCompared = 2 };
  static constinit inline uint8_t g_places[kPlaces] = {};
};

}  // namespace pf::rt
