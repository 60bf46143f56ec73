// What the runtime knows of a thread of the program, whatever the detector; detectors add theirs (host.h).
//
// Owned by its thread, except where a field says otherwise. Pages of a thread that ended are used again for later ones.
#pragma once
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "core/epoch.h"
#include "core/lockset.h"
#include "runtime/depot.h"
#include "runtime/memory.h"
#include "runtime/spin.h"

namespace pf::rt {

namespace tree {
struct Table;
}
namespace rest {
struct Notices;
}
namespace sleep {
struct Waiters;
}
namespace literace {
struct Bursts;
}
namespace library {
struct Calls;
}
namespace owners {
struct Block;
}

// One entry of the call stack that __tsan_func_entry and __tsan_func_exit keep.
struct Frame {
  uintptr_t caller;  // where the function was called
  depot::Id stack;   // up to and with this call; 0 while nobody asked
  uint32_t
      stack_pointer;  // its low half, to find the frame that longjmp returns to; it is even, so the lowest bit tells:
  static constexpr uint32_t kNotSampled = 1;  // of literace.h
};

struct Held {
  uintptr_t address;
  LockMode mode;
  uint32_t depth;  // of a recursive mutex
};

// Stays when the thread is gone: reports name it. Guarded by the registry's lock where it changes after birth.
struct ThreadInfo {
  uint32_t id;
  int os_id;
  uint32_t parent;
  depot::Id created_at;
  uint64_t type;  // of carisma.h
  char name[16];
  uintptr_t stack_begin, stack_end, tls_begin, tls_end;
  bool ended, detached, joined, written;  // written: the reader of reports knows of it
  bool is_live;                           // in the registry
};

struct PendingSignal {
  int number;
  siginfo_t info;
  ucontext_t context;
};

// What an access was, in one number: thread-local cache of depot lookups by where the access is.
struct KnownAccess {
  uintptr_t pc;
  depot::Id stack, locks;
  uint32_t packed;
  depot::Id id;
};

// The same for stacks and chains of locks.
struct KnownStack {
  uint64_t key;
  depot::Id below, id;
};

struct Thread {
  // Hot:
  Frame* top;  // the next entry to fill
  Frame* end;
  uint64_t accesses;
  uint32_t busy;  // depth of Scope: the runtime is at work on this thread
  uint32_t ignore_reads, ignore_writes, ignore_sync;
  uint32_t inside;              // depth of intercepted functions, whose own calls are not the program's
  uint32_t period;              // of sampling.h, as the thread has seen it last
  const uint8_t* quiet_blocks;  // of quiet.h, as this thread sees them; others set it, too
  bool is_announced;            // created, but not running yet: others cannot find it
  bool is_outside;              // in code without instrumentation, as far as is known (library_calls.h)
  bool at_rest;                 // makes an operation that began at rest (rest.h); signals wait
  bool keeps_samples;           // joins with something that it told nobody of (rest.h); others read it

  // Of owners.h.
  const owners::Block* at_work;  // where it changes histories; others read it
  uint32_t number, locked_changes;

  Frame* bottom;
  Arena* arena;
  tree::Table* tree;         // null: no such filter
  literace::Bursts* bursts;  // likewise
  library::Calls* library;   // null while it never called into a library
  uint32_t library_depth;    // calls into libraries that are under way
  uint32_t work;             // units that sampling.h was not told yet
  uint64_t dropped;          // accesses, by sampler.h
  uint64_t atomics;          // of the accesses: they are never dropped
  depot::Id locks;           // the held locks as a chain; valid while !locks_changed
  bool locks_changed;
  uint32_t held_count, held_capacity;
  Held* held;
  ThreadInfo* info;
  Thread* next;  // in the registry, guarded by its lock
  Thread* previous;
  uint64_t events;                  // synchronization seen
  uint64_t sampled, sampled_since;  // accesses in periods that are over; what `accesses` was when this one began
  uintptr_t caller;                 // of the outermost intercepted function, 0 outside of one

  // Of rest.h. Others read them.
  uint32_t knows_of;                // the generation of samples that it was found to know all of; 0: none
  uint32_t rests;                   // that it was told of
  const Thread* joins;              // whose end it waits for in pthread_join
  const rest::Notices* awaits;      // of the condition it waits for,
  const rest::Notices* will_await;  // or is about to
  uint32_t notices_before;          // that it did
  Slot slot_before_wait;            // its epoch then
  uint32_t clock_before_wait;
  bool has_left_period;  // in which it fell asleep there, and has sampled nothing since
  bool left_to_join;     // the same, while it waits in pthread_join

  // Of sleep.h. Others read them.
  const ThreadInfo* sleeps_until_end_of;
  const sleep::Waiters *will_sleep_for, *sleeps_for;
  uint64_t sleeps_for_name;

  // Of past.h. Others read them.
  uint32_t asleep_at_look;  // guarded by the registry's lock
  uint32_t until_shown, shows_every;
  uint64_t shown_at;
  static constexpr uint32_t kShownSlots = 512;
  uint32_t shown[kShownSlots];  // up to which tick it knows each slot's thread

  // Signals that came while busy, delivered when the runtime leaves.
  uint32_t pending_count;
  static constexpr uint32_t kPendingMax = 128;
  PendingSignal* pending;  // on pages of their own, once there was one

  // Locks whose initialization this thread's first use was checked against (intercept/lock_memory.h).
  static constexpr uint32_t kMetLocks = 64;
  uintptr_t met_locks[kMetLocks];
  uintptr_t& met_lock(uintptr_t address) { return met_locks[(address >> 3 ^ address >> 9) % kMetLocks]; }

  depot::Id latest_access;  // that was described
  static constexpr unsigned kKnownBits = 11;
  KnownAccess known[1U << kKnownBits];
  KnownStack known_stacks[512];
};

// Null on a thread that the runtime has not met.
extern constinit thread_local Thread* self [[gnu::tls_model("initial-exec")]];
// The same for plain accesses and for calls, and null, too, where a filter is to be asked first (sampler.h sets all three).
extern constinit thread_local Thread* watched [[gnu::tls_model("initial-exec")]];
extern constinit thread_local Thread* in_calls [[gnu::tls_model("initial-exec")]];

// Meets the thread if it is new. Null before the runtime is ready and after it is gone.
[[gnu::noinline, gnu::cold]] Thread* meet();
inline Thread* current() {
  Thread* t = self;
  return t != nullptr ? t : meet();
}

// The same without any function of libc, for a handler of a signal that came in the middle of the program's own code.
Thread* running_thread();

// --- the call stack ---

// Makes room first. Called last, so that the usual way needs no register saved.
[[gnu::noinline, gnu::cold]] void enter_deeper(Thread& t, uintptr_t caller, uintptr_t stack_pointer);

inline void enter_function(Thread& t, uintptr_t caller, uintptr_t stack_pointer) {
  if (t.top == t.end) [[unlikely]]
    return enter_deeper(t, caller, stack_pointer);
  *t.top++ = {caller, 0, static_cast<uint32_t>(stack_pointer)};
}
inline void leave_function(Thread& t) {
  if (t.top != t.bottom) --t.top;
}
// Drops the frames that are below the stack pointer a longjmp returns to.
void unwind(Thread& t, uintptr_t stack_pointer);

// The stack of calls that led here, and with a program counter on top.
[[gnu::noinline]] depot::Id calls_anew(Thread& t);
inline depot::Id calls(Thread& t) {
  if (t.top == t.bottom) return 0;
  return t.top[-1].stack != 0 ? t.top[-1].stack : calls_anew(t);
}
inline depot::Id stack(Thread& t, uintptr_t pc) { return depot::push(calls(t), pc); }
// The same for a call that may come from a library without instrumentation: with the place where the program called that.
depot::Id stack_through_library(Thread& t, uintptr_t pc);
void set_program_text(uintptr_t begin, uintptr_t end);

// --- held locks ---

void hold(Thread& t, uintptr_t lock, LockMode mode);
// Whether it was held that way.
bool let_go(Thread& t, uintptr_t lock, LockMode mode);
const Held* held_as(const Thread& t, uintptr_t lock);
// The same for the usual case, a lock that is the only one. A signal may come in between: what its handler holds comes after ours in the
// list, and is gone again.
inline bool may_hold_alone(const Thread& t) { return t.held_count == 0 && t.held_capacity != 0; }
inline void hold_alone(Thread& t, uintptr_t lock, LockMode mode) {
  t.held_count = 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  t.held[0] = {lock, mode, 1};
  t.locks_changed = true;
}
inline bool is_held_alone(const Thread& t, uintptr_t lock) {
  return t.held_count == 1 && t.held[0].address == lock && t.held[0].depth == 1;
}
inline void let_go_alone(Thread& t) {
  t.held_count = 0;
  t.locks_changed = true;
}
[[gnu::noinline]] depot::Id held_locks_anew(Thread& t);
inline depot::Id held_locks(Thread& t) { return t.locks_changed ? held_locks_anew(t) : t.locks; }

// --- the access being made, as one number ---

inline KnownAccess& known_access(Thread& t, uintptr_t pc, uint32_t packed, depot::Id below, depot::Id locks) {
  const uint64_t context = uint64_t{below} << 32 | locks;
  return t.known[(pc ^ packed ^ context << 12) * 0x9E3779B97F4A7C15U >> (64 - Thread::kKnownBits)];
}

// Whether stack and held locks have their numbers already.
inline bool is_context_known(const Thread& t) {
  return !t.locks_changed && (t.top == t.bottom || t.top[-1].stack != 0);
}

// packed: the operation + 1 in the top byte, the size below it.
[[gnu::noinline]] depot::Id describe_anew(Thread& t, uintptr_t pc, uint32_t packed);
inline depot::Id describe(Thread& t, uintptr_t pc, uint32_t packed) {
  const depot::Id below = calls(t);
  const depot::Id locks = held_locks(t);
  const KnownAccess& known = known_access(t, pc, packed, below, locks);
  if (known.pc == pc && known.stack == below && known.locks == locks && known.packed == packed) [[likely]]
    return t.latest_access = known.id;
  return describe_anew(t, pc, packed);
}

// Whether two accesses are of the same instruction, operation and size, whatever led there and was held.
bool same_place(depot::Id a, depot::Id b);

// --- busy: the runtime is at work on this thread ---

// Set while something needs every other thread out of the runtime (fork).
extern bool g_gate_closed;
[[gnu::noinline, gnu::cold]] void wait_at_gate(Thread& t);
[[gnu::noinline, gnu::cold]] void deliver_pending_signals(Thread& t);

// Held while a thread works on what threads share. Signals that come meanwhile wait.
class [[nodiscard]] Scope {
 public:
  explicit Scope(Thread& t) : thread_(t) {
    ++t.busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&g_gate_closed, __ATOMIC_RELAXED) && t.busy == 1) [[unlikely]]
      wait_at_gate(t);
  }
  ~Scope() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (--thread_.busy == 0 && thread_.pending_count != 0) [[unlikely]]
      deliver_pending_signals(thread_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Thread& thread_;
};

}  // namespace pf::rt
