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

namespace pf::rt {

class WatchHost {
 public:
  // Samples without a slot, one right after the other. In a hot loop most are not even tried: to look at the time costs more than the access.
  class Refusals {
   public:
    // Whether to leave this one out.
    bool is_hopeless() {
      if (to_skip_ == 0) return false;
      --to_skip_;
      return true;
    }
    // One more. How many were left out since the last.
    uint32_t note() {
      const uint32_t skipped = next_;
      next_ = ++in_a_row_ / kFew < kMost ? in_a_row_ / kFew : kMost;
      to_skip_ = next_;
      return skipped;
    }
    void end() { in_a_row_ = next_ = 0; }

   private:
    static constexpr uint32_t kFew = 8, kMost = 64;
    uint32_t in_a_row_ = 0, next_ = 0, to_skip_ = 0;
  };

  struct HostThread : Thread {
    watch::Clock clock;
    Refusals refusals;
  };
  static HostThread& of(Thread& t) { return static_cast<HostThread&>(t); }

  // Hot. What an instruction is to us was decided when the program was loaded, by the lower bits of its place, which are the same
  // wherever its module is. One load, one compare; no thread, no shadow.
  template <Op kOp, unsigned kSize>
  [[gnu::always_inline]] static void access(uintptr_t address, uintptr_t pc) {
    if (g_places[pc % kPlaces] != 0) [[unlikely]]
      look_at(address, kSize, kOp, pc);
  }
  // There is no filter in front of these engines.
  template <Op kOp>
  static bool is_wanted(const Thread&, uintptr_t, uintptr_t) {
    return true;
  }
  template <Op kOp>
  static void access_slow(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    if (g_places[pc % kPlaces] != 0) look_at(t, address, size, kOp, pc);
  }

  // --- atomics: `real` makes the operation itself ---

  template <class Real>
  static auto atomic(HostThread& t, uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc,
                     Real real) {
    const Atomic around(t, order);
    const auto result = real();
    around.done(address, size, op, order, pc);
    return result;
  }
  // A compare-exchange is a read-modify-write or, when it fails, a load: known only once it is done.
  template <class Real>
  static bool compare_exchange(HostThread& t, uintptr_t address, unsigned size, MemoryOrder success,
                               MemoryOrder failure, uintptr_t pc, Real real) {
    const Atomic around(t, success);
    const bool done = real();
    around.done(address, size, done ? Op::AtomicRmw : Op::AtomicLoad, done ? success : failure, pc);
    return done;
  }

  // The thread synchronizes: called before what others may acquire, after what was acquired.
  static void synchronize(Thread& t) {
    if (t.ignore_sync != 0) return;
    ++t.events;
    watch::tick(of(t).clock);
  }

  // An access that the program makes through us, or that is announced to us: with which samples does it race? Not with those
  // that were taken after `latest`.
  static void meet(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc, uint64_t latest = ~uint64_t{0}) {
    if (watch::slots::any()) [[unlikely]]
      meet_samples(t, address, size, op, pc, latest);
  }

 private:
  // Before and after an atomic operation. Samples that were taken since it began are none of its business: their threads may have
  // acquired what it released.
  class Atomic {
   public:
    Atomic(HostThread& t, MemoryOrder order)
        : thread_(t), scope_(t), before_(__atomic_load_n(&watch::g_samples_taken, __ATOMIC_ACQUIRE)) {
      ++t.accesses;
      if (order != MemoryOrder::Relaxed) synchronize(t);
    }
    void done(uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc) const {
      if (order != MemoryOrder::Relaxed) synchronize(thread_);
      meet(thread_, address, size, op, pc, before_);
    }

   private:
    HostThread& thread_;
    Scope scope_;
    uint64_t before_;
  };

  [[gnu::noinline, gnu::cold]] static void meet_samples(Thread& t, uintptr_t address, uintptr_t size, Op op,
                                                        uintptr_t pc, uint64_t latest);
  [[gnu::noinline]] static void look_at(uintptr_t address, uintptr_t size, Op op, uintptr_t pc);
  [[gnu::noinline]] static void look_at(Thread& t, uintptr_t address, uintptr_t size, Op op, uintptr_t pc);

 public:
  // By the lower bits of a program counter: whether accesses there are sampled, or compared since there are no breakpoints.
  enum Place : uint8_t { kSampled = 1, kCompared = 2 };
  static constexpr uintptr_t kPlaces = 4096;  // a page: modules are moved by whole ones
  static constinit inline uint8_t g_places[kPlaces] = {};
};

}  // namespace pf::rt
